"""What stands for a memory where its whole text is not shown (SRC-09)."""

from __future__ import annotations

SUMMARY_CHARACTERS = 200


def summary_of(content: str) -> str:
    """The beginning of ``content`` on one line, at most 200 characters."""
    line = " ".join(content[: SUMMARY_CHARACTERS * 4].split())
    return line if len(line) <= SUMMARY_CHARACTERS else line[: SUMMARY_CHARACTERS - 1].rstrip() + "…"
