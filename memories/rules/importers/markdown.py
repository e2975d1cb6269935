"""Pages of Markdown: ``MEMORY.md``, ``memory/2026-11-22.md``, the files of Letta Code's memory folder, any notes.

Every point of a list and every paragraph is a memory of its own; what stands indented below a point belongs to it. The
headings above it, the file and a day in the file's name are kept with it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memories.rules.importers.records import Foreign, Left, Record, moment_of
from memories.rules.vocabulary import MemoryType

FIELDS: Mapping[str, str] = {
    "point or paragraph": "content",
    "file and place": "external_write_id",
    "headings": "extra",
    "front matter": "extra",
    "day in the file's name": "event_at",
    "file's date": "created_at",
}
_DAY = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_POINT = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_ONLY_LINK = re.compile(r"\[[^\]]*\]\([^)]*\)")
_FENCE = re.compile(r"(```|~~~)")


@dataclass(slots=True)
class _Page:
    """A page while it is read, line by line."""

    headings: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    fence: str | None = None
    found: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def close(self) -> None:
        text = "\n".join(self.open).strip()
        if text:
            self.found.append((text, tuple(filter(None, self.headings))))
        self.open = []

    def take(self, line: str) -> None:
        fence = _FENCE.match(line.strip())
        if fence and (self.fence is None or fence[1] == self.fence):
            self.fence = fence[1] if self.fence is None else None
        elif self.fence is None and self._begins(line):
            return
        self.open.append(line.rstrip())

    def _begins(self, line: str) -> bool:
        """Whether the line ended what was open, and says itself what begins."""
        heading, point = _HEADING.match(line), _POINT.match(line)
        if not line.strip() or line.strip() in {"---", "***", "___"}:
            # A point goes on after an empty line only where it is indented, which the next line shows.
            self.close()
        elif heading:
            self.close()
            level = len(heading[1])
            self.headings = [*(self.headings + [""] * level)[: level - 1], heading[2]]
        elif point:
            self.close()
            self.open = [point[1].rstrip()]
        else:
            return False
        return True


def read_page(path: str, text: str, at: str | None = None) -> Iterator[Record]:
    """The points and paragraphs of one page; ``path`` in its folder, ``at`` when the file was written last."""
    front, body = _front_matter(text)
    page = _Page()
    for line in body.splitlines():
        page.take(line)
    page.close()
    day = _DAY.search(path.rsplit("/", 1)[-1])
    event_at = moment_of(day[1]) if day else None
    seen = set[str]()
    for said, headings in page.found:
        if _ONLY_LINK.fullmatch(said):
            yield Left("only_a_link", "is only a link to another page")
            continue
        key = f"{path}#{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:24]}"
        if key in seen:
            yield Left("repeated", "stands on the same page twice")
            continue
        seen.add(key)
        extra: dict[str, Any] = {"file": path, **({"headings": list(headings)} if headings else {}), **front}
        values = {
            "content": said,
            "type": MemoryType.EPISODIC if event_at else MemoryType.FACT,
            "extra": extra,
            "event_at": event_at,
            "created_at": event_at or at,
            "updated_at": event_at or at,
        }
        there = {"headings": headings, "front matter": front, "day in the file's name": event_at, "file's date": at}
        uses = ("point or paragraph", "file and place", *(name for name, value in there.items() if value))
        yield Foreign(key, values, uses)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """``name: value`` lines between two lines of dashes at the top, and the rest."""
    text = text.removeprefix("\ufeff")
    head, mark, rest = text.removeprefix("---\n").partition("\n---\n")
    if not text.startswith("---\n") or not mark:
        return {}, text
    rows = [line.partition(":") for line in head.splitlines() if ":" in line and not line.startswith((" ", "#", "-"))]
    return {name.strip(): value.strip().strip("\"'") for name, _, value in rows if value.strip()}, rest
