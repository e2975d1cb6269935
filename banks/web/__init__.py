"""Pages about the vault itself: who may look, the frame around every page, banks, agents and keys."""
