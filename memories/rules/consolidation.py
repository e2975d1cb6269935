"""The next core document, from the one there is and what was noted since: no line goes without a reason (DEF-19).

Every line stands for memories. It follows them: edited, it is renewed; superseded, its successor takes its place; put
away, it goes. What was noted comes in by `promotion`; what says the same is left out, and of what contradicts, the
newer stays. Doing it twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from memories.rules.coretext import CoreLine, Held, Remembered, held, line_of
from memories.rules.differences import differences, read_text
from memories.rules.promotion import PromotionRules, barred_from_core, over_limit
from memories.rules.renewal import Renewal, renewal_of
from memoryhub.lib.text import content_fingerprint


class What(StrEnum):
    """What became of a line."""

    ADDED = "added"
    CHANGED = "changed"
    DROPPED = "dropped"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the diary: what, the words afterwards (or those that went), the words before, and why (a code).

    ``said``: a language model's own words about why.
    """

    what: What
    text: str
    reason: str
    memory_ids: tuple[UUID, ...]
    before: str = ""
    said: str = ""

    def stored(self) -> dict[str, Any]:
        """The change as JSON."""
        return {**asdict(self), "memory_ids": [str(one) for one in self.memory_ids]}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Change:
        """The change a diary stored."""
        ids = tuple(UUID(one) for one in stored["memory_ids"])
        return cls(**{**stored, "what": What(stored["what"]), "memory_ids": ids})


@dataclass(frozen=True, slots=True)
class Material:
    """What a dream read.

    ``known`` holds every memory of ``lines`` and ``noted``, and the successors of those that have one. ``mentions``
    says how often a memory was noted.
    """

    lines: Sequence[CoreLine]
    noted: Sequence[UUID]
    known: Mapping[UUID, Remembered]
    mentions: Mapping[UUID, int]


@dataclass(frozen=True, slots=True)
class Consolidated:
    """The lines as they should be, and what was changed for it."""

    lines: list[Held]
    changes: list[Change]


def consolidate(material: Material, rules: PromotionRules) -> Consolidated:
    """The next document. What was only left out is among the ``changes``, but changes nothing."""
    work = _Work(material)
    for line in material.lines:
        work.refresh(line)
    for memory_id in dict.fromkeys(material.noted):
        work.take_in(memory_id, rules)
    work.settle_repeats()
    work.settle_contradictions()
    work.trim(rules.core_lines)
    return Consolidated(_by_audience(work.held), work.changes())


def _by_audience(lines: Sequence[Held]) -> list[Held]:
    """Section after section, each in the order in which its lines came."""
    places = {audience: place for place, audience in enumerate(dict.fromkeys(one.line.audience for one in lines))}
    return sorted(lines, key=lambda one: places[one.line.audience])


@dataclass
class _Work:
    material: Material
    held: list[Held] = field(default_factory=list)
    _changes: list[Change] = field(default_factory=list)
    #: Lines that came in just now: their going again is no change of the document.
    _fresh: dict[CoreLine, Change] = field(default_factory=dict)

    def refresh(self, line: CoreLine) -> None:
        """The line as its memories are now."""
        memories = [self.material.known.get(memory_id) for memory_id in line.memory_ids]
        as_read = [
            one
            for one, (_, version) in zip(memories, line.sources, strict=True)
            if one is not None and not one.gone and one.version == version and one.audience == line.audience
        ]
        if len(as_read) == len(memories):
            self.held.append(held(line, as_read))
        elif len(memories) == 1:
            self._follow(line, memories[0])
        else:
            self._take_apart(line, [one for one in memories if one is not None])

    def _follow(self, line: CoreLine, memory: Remembered | None) -> None:
        heir = self._heir(memory)
        if memory is None or heir is None:
            self._drop(line, memory.gone if memory else "erased")
            return
        renewed = line_of(heir)
        if self._stands(heir, beside=line):
            self._drop(line, "superseded")
            return
        self.held.append(held(renewed, [heir]))
        if renewed.text != line.text:
            why = "edited" if heir is memory else "superseded"
            ids = tuple(dict.fromkeys((*renewed.memory_ids, *line.memory_ids)))
            self._changes.append(Change(What.CHANGED, renewed.text, why, ids, line.text))

    def _take_apart(self, line: CoreLine, memories: Sequence[Remembered]) -> None:
        """When one of its memories has changed, the words no longer hold: the others speak for themselves."""
        self._drop(line, "sources_changed")
        for memory in memories:
            heir = self._heir(memory)
            if heir is not None and not self._stands(heir, beside=line):
                self._add(heir, "sources_changed")

    def take_in(self, memory_id: UUID, rules: PromotionRules) -> None:
        """Add what was noted, or say why not."""
        memory = self.material.known.get(memory_id)
        heir = self._heir(memory)
        if memory is None or heir is None:
            self._leave_out(memory, memory.gone if memory else "erased")
        elif not self._stands(heir):
            mentions = self.material.mentions.get(memory_id, 0) + (
                self.material.mentions.get(heir.id, 0) if heir is not memory else 0
            )
            bar = barred_from_core(heir, mentions, rules)
            if bar is None:
                self._add(heir, "promoted")
            else:
                self._leave_out(heir, bar.value)

    def settle_repeats(self) -> None:
        """Of lines that say the same, the first stays; what is reserved stays in any case."""
        heard: dict[tuple[Any, ...], list[Held]] = {}
        kept = []
        # What is reserved is heard first, so that an ordinary line yields to it and not the other way round.
        for one in sorted(self.held, key=lambda one: not one.is_reserved):
            order = tuple(sorted(read_text(one.line.text).order))
            same = heard.setdefault((one.line.audience, one.user_id, order), [])
            if not one.is_reserved and any(_says_the_same(other, one) for other in same):
                self._drop(one.line, "said_already")
            else:
                same.append(one)
                kept.append(one)
        self._keep(kept)

    def settle_contradictions(self) -> None:
        """Of lines with one fact key that exclude each other, the newer stays."""
        by_key: dict[tuple[Any, ...], list[Held]] = {}
        for one in self.held:
            if one.fact_key:
                by_key.setdefault((one.line.audience, one.user_id, one.fact_key), []).append(one)
        outdated = {
            older.line
            for group in by_key.values()
            for older in group
            if not older.is_reserved and any(_contradicts(newer, older) for newer in group)
        }
        for line in [one.line for one in self.held if one.line in outdated]:
            self._drop(line, "contradicted")
        self._keep([one for one in self.held if one.line not in outdated])

    def trim(self, limit: int) -> None:
        """What there is no room for goes."""
        over = over_limit(self.held, limit)
        for place in sorted(over):
            self._drop(self.held[place].line, "limit")
        self._keep([one for place, one in enumerate(self.held) if place not in over])

    def changes(self) -> list[Change]:
        """What happened to the document, then what came in."""
        return [*self._changes, *self._fresh.values()]

    def _keep(self, kept: Sequence[Held]) -> None:
        staying = {one.line for one in kept}
        self.held = [one for one in self.held if one.line in staying]

    def _heir(self, memory: Remembered | None) -> Remembered | None:
        """The memory itself, or what took its place and holds."""
        if memory is None or not memory.gone:
            return memory
        heir = self.material.known.get(memory.successor) if memory.successor else None
        return heir if heir is not None and not heir.gone else None

    def _stands(self, memory: Remembered, beside: CoreLine | None = None) -> bool:
        """Whether a line stands for it already; ``beside`` another, also one that is yet to be refreshed."""
        others = self.material.lines if beside is not None else ()
        return any(memory.id in one.line.memory_ids for one in self.held) or any(
            memory.id in line.memory_ids for line in others if line is not beside
        )

    def _add(self, memory: Remembered, reason: str) -> None:
        line = line_of(memory)
        self.held.append(held(line, [memory]))
        self._fresh[line] = Change(What.ADDED, line.text, reason, line.memory_ids)

    def _drop(self, line: CoreLine, reason: str) -> None:
        if line in self._fresh:
            change = self._fresh.pop(line)
            self._changes.append(Change(What.LEFT_OUT, change.text, reason, change.memory_ids))
        else:
            self._changes.append(Change(What.DROPPED, line.text, reason, line.memory_ids))

    def _leave_out(self, memory: Remembered | None, reason: str) -> None:
        if memory is not None:
            self._changes.append(Change(What.LEFT_OUT, line_of(memory).text, reason, (memory.id,)))


def _says_the_same(one: Held, other: Held) -> bool:
    left, right = one.line.text, other.line.text
    return content_fingerprint(left) == content_fingerprint(right) or not differences(left, right)


def _contradicts(newer: Held, older: Held) -> bool:
    if newer is older or newer.at <= older.at:
        return False
    return renewal_of(older.line.text, newer.line.text, older.fact_key or "") is not Renewal.BESIDE
