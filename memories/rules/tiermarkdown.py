"""Daily notes, the core document and the diary as Markdown: what a person reads and a folder holds (TIE-03, CON-19)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from memories.rules.consolidation import Change, What
from memories.rules.coretext import CoreLine, one_line
from memories.rules.vocabulary import NoteKind

MARKS: Mapping[NoteKind, str] = {
    NoteKind.NEW: "",
    NoteKind.RENEWED: " *(replaces what was known)*",
    NoteKind.AGAIN: " *(said again)*",
    NoteKind.DRAFT: " *(waits for review)*",
    NoteKind.SUMMARY: "",
}
HEADINGS: Mapping[What, str] = {
    What.ADDED: "Added",
    What.CHANGED: "Changed",
    What.DROPPED: "Dropped",
    What.LEFT_OUT: "Left out",
}
#: The codes of `consolidation` and `dreaming` as people read them.
REASONS: Mapping[str, str] = {
    "promoted": "important or often said, and sure",
    "edited": "the memory was edited",
    "superseded": "a newer memory took its place",
    "archived": "the memory was archived",
    "discarded": "the memory was rejected",
    "draft": "the memory waits for review",
    "expired": "the memory expired",
    "erased": "the memory was erased",
    "moved": "the memory belongs elsewhere now",
    "sources_changed": "a memory it was made of has changed",
    "said_already": "another line says the same",
    "contradicted": "a newer line says otherwise",
    "limit": "there was no room for it",
    "too_unimportant": "not important enough, and not said often enough",
    "too_doubtful": "not sure enough",
    "merged": "put together by the language model",
    "reworded": "worded by the language model",
    "model": "dropped by the language model",
    "not_supported": "the language model's line said something else than its sources",
    "unknown_source": "the language model named no source there is",
    "other_people": "the language model mixed what different people said",
}


@dataclass(frozen=True, slots=True)
class NotedLine:
    """A line of a daily note as it is shown: when, in which conversation, what."""

    at: dt.datetime
    session: str
    kind: NoteKind
    text: str


def daily_markdown(date: dt.date, lines: Sequence[NotedLine], left_out: int = 0) -> str:
    """``memory/YYYY-MM-DD.md``: a part for each conversation, in the order in which things were said."""
    parts = [f"# {date.isoformat()}"]
    for (session, minute), group in groupby(lines, key=lambda line: (line.session, f"{line.at:%H:%M}")):
        named = f" · {one_line(session)}" if session else ""
        parts.append(f"## {minute}{named}\n\n" + "\n".join(_noted(line) for line in group))
    if left_out:
        parts.append(f"*{left_out} more did not fit into this note; they are remembered all the same.*")
    return "\n\n".join(parts) + "\n"


def _noted(line: NotedLine) -> str:
    if line.kind is NoteKind.SUMMARY:
        return "\n".join(f"> {said}" for said in line.text.splitlines() if said.strip())
    return f"- {one_line(line.text)}{MARKS[line.kind]}"


@dataclass(frozen=True, slots=True)
class Names:
    """What banks and agents are called."""

    banks: Mapping[str, str]
    agents: Mapping[str, str]

    def heading(self, line: CoreLine) -> str:
        """The section a line stands in."""
        bank = self.banks.get(str(line.audience.bank_id), "Elsewhere")
        agent = line.audience.agent_id
        return f"{bank}, only for {self.agents.get(agent, agent)}" if agent else bank


def core_sections(lines: Iterable[CoreLine], names: Names) -> list[tuple[str, list[CoreLine]]]:
    """The lines by section, the sections by name."""
    sections: dict[str, list[CoreLine]] = {}
    for line in lines:
        sections.setdefault(names.heading(line), []).append(line)
    return sorted(sections.items())


def core_markdown(lines: Iterable[CoreLine], names: Names) -> str:
    """``MEMORY.md``: a section for each bank, a line for each thing."""
    parts = ["# Memory"]
    for heading, said in core_sections(lines, names):
        parts.append(f"## {one_line(heading)}\n\n" + "\n".join(f"- {line.text}" for line in said))
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True, slots=True)
class DiaryHead:
    """What stands above the changes of a dream."""

    date: dt.date
    notes_read: int
    lookback_days: int
    by_model: bool
    version_before: int | None
    version_after: int | None


def diary_markdown(head: DiaryHead, changes: Sequence[Change]) -> str:
    """``memory/dreams/YYYY-MM-DD.md``: what was read, and what became of each line and why (TIE-07)."""
    way = "A language model worded it." if head.by_model else "No language model was asked."
    days = f"{head.lookback_days} day{'s' if head.lookback_days != 1 else ''}"
    told = f"Read {head.notes_read} lines of daily notes, back to {days} ago. {way}"
    if head.version_after is None or head.version_after == head.version_before:
        told += " The core document stayed as it was."
    else:
        told += f" The core document went from version {head.version_before or 0} to {head.version_after}."
    parts = [f"# Dream of {head.date.isoformat()}", told]
    for what, heading in HEADINGS.items():
        lines = [_changed(change) for change in changes if change.what is what]
        if lines:
            parts.append(f"## {heading}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _changed(change: Change) -> str:
    why = REASONS.get(change.reason, change.reason)
    said = f" “{one_line(change.said)}”" if change.said else ""
    before = " It said: " + " / ".join(change.before.splitlines()) if change.before else ""
    return f"- {change.text} *({why})*{said}{before}"
