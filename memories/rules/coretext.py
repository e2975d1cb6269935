"""A line of the core document: its words, and the memories they came from, each with the version that was read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memories.rules.promotion import is_reserved

LINE_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Audience:
    """Who may read a line: those of a bank, and there all agents or one. Lines of two audiences never become one."""

    bank_id: UUID
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory as consolidation sees it; ``gone`` says why it holds no longer: archived, discarded, expired …"""

    id: UUID
    version: int
    text: str
    audience: Audience
    type: str
    importance: int
    confidence: int
    is_protected: bool
    at: dt.datetime
    fact_key: str | None = None
    user_id: str | None = None
    gone: str = ""
    successor: UUID | None = None


@dataclass(frozen=True, slots=True)
class CoreLine:
    """What a version stores; ``sources`` are (memory, version)."""

    text: str
    audience: Audience
    sources: tuple[tuple[UUID, int], ...]

    @property
    def memory_ids(self) -> tuple[UUID, ...]:
        """The memories it came from."""
        return tuple(memory_id for memory_id, _ in self.sources)

    def stored(self) -> dict[str, Any]:
        """The line as JSON."""
        return {
            "text": self.text,
            "bank": str(self.audience.bank_id),
            "agent": self.audience.agent_id,
            "sources": [[str(memory_id), version] for memory_id, version in self.sources],
        }

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> CoreLine:
        """The line a version stored."""
        return cls(
            stored["text"],
            Audience(UUID(stored["bank"]), stored["agent"]),
            tuple((UUID(memory_id), version) for memory_id, version in stored["sources"]),
        )


def line_of(memory: Remembered) -> CoreLine:
    """The line a memory becomes: its own words, on one line."""
    return CoreLine(one_line(memory.text), memory.audience, ((memory.id, memory.version),))


def one_line(text: str) -> str:
    """The text on one line, cut where a line must end."""
    whole = " ".join(text.split())
    return whole if len(whole) <= LINE_MAX else f"{whole[: LINE_MAX - 1].rstrip()}…"


@dataclass(frozen=True, slots=True)
class Held:
    """A line with what its memories weigh."""

    line: CoreLine
    type: str
    importance: int
    confidence: int
    is_protected: bool
    at: dt.datetime
    fact_key: str | None
    user_id: str | None

    @property
    def is_reserved(self) -> bool:
        """Whether it stays as it is."""
        return is_reserved(self)


def held(line: CoreLine, memories: Sequence[Remembered]) -> Held:
    """The line beside its memories, of which there is at least one: the most important, least sure, newest of them."""
    first, alone = memories[0], len(memories) == 1
    return Held(
        line=line,
        type=first.type,
        importance=max(one.importance for one in memories),
        confidence=min(one.confidence for one in memories),
        is_protected=any(one.is_protected for one in memories),
        at=max(one.at for one in memories),
        fact_key=first.fact_key if alone else None,
        user_id=first.user_id,
    )


def held_together(text: str, parts: Sequence[Held]) -> Held:
    """One line in place of several of one audience: of the most important, the least sure and the newest of them."""
    first, alone = parts[0], len(parts) == 1
    sources = dict(source for part in parts for source in part.line.sources)
    return Held(
        line=CoreLine(text, first.line.audience, tuple(sources.items())),
        type=first.type,
        importance=max(part.importance for part in parts),
        confidence=min(part.confidence for part in parts),
        is_protected=any(part.is_protected for part in parts),
        at=max(part.at for part in parts),
        fact_key=first.fact_key if alone else None,
        user_id=first.user_id,
    )
