"""The pages about what the hub makes of memories by itself, as tabs of one section."""

from __future__ import annotations

from django.urls import reverse

from memories.web.choices import Choice

#: The name of each tab's address, and its title.
TABS = (
    ("summaries", "Summaries"),
    ("daily_notes", "Daily notes"),
    ("core_document", "Core document"),
    ("dreams", "Dreams"),
)


def consolidation_tabs(here: str) -> list[Choice]:
    """The tabs, with the one that ``here`` names marked; draw them with memories/consolidation_tabs.html."""
    return [Choice(label, reverse(name), selected=name == here) for name, label in TABS]
