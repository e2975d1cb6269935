"""Questions to language models, each written down; and the guard that stops asking. Used by services and by search."""
