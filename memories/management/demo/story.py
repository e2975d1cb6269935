"""The sample vault's files, read and checked."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

from pydantic import BaseModel, ConfigDict

from banks.services.drafts import AgentDraft, BankDraft
from memories.rules.drafts import MemoryChanges, MemoryDraft
from memories.rules.vocabulary import MemoryCategory, MemoryType, Relation, Role, SourceKind, Status

FOLDER = Path(__file__).parent
PREFIX = "demo:"
PERSON = "mira"
SHELVES = {
    MemoryType.FACT: MemoryCategory.SEMANTIC,
    MemoryType.SKILL: MemoryCategory.SEMANTIC,
    MemoryType.CONSTRAINT: MemoryCategory.SEMANTIC,
    MemoryType.PREFERENCE: MemoryCategory.USER_PROFILE,
    MemoryType.EPISODIC: MemoryCategory.EPISODIC,
    MemoryType.TASK: MemoryCategory.VARIABLE,
}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Item(_Part):
    """One memory of the story, told in days before today; `by` is the person or an agent."""

    id: str
    days_ago: int
    by: str
    type: MemoryType
    importance: int
    text: str
    category: MemoryCategory | None = None
    entities: list[str] = []
    tags: list[str] = []
    session: str | None = None
    source: SourceKind | None = None
    fact_key: str | None = None
    supersedes: str | None = None
    expires_in_days: int | None = None
    event_days_ago: int | None = None
    draft: bool = False
    protected: bool = False
    verified: bool = False
    dedup: bool | None = None

    def written_at(self, today: dt.datetime) -> dt.datetime:
        """Its moment: on its day, at an hour that is always the same for the same memory and never in the future."""
        return today - dt.timedelta(days=self.days_ago, minutes=crc32(self.id.encode()) % 540 + 5)

    @property
    def role(self) -> Role:
        """Who said it: what the person stated is hers, also when an agent wrote it down."""
        if self.by == PERSON or self.source == SourceKind.USER_STATED:
            return Role.HUMAN
        return Role.TOOL if self.source == SourceKind.TOOL_OUTPUT else Role.AI

    def to_draft(self, bank: str, today: dt.datetime, supersedes: str | None) -> MemoryDraft:
        """What a caller would send to write it."""
        event, expires = self.event_days_ago, self.expires_in_days
        said: dict[str, Any] = {
            "content": self.text,
            "type": self.type,
            "category": self.category or SHELVES.get(self.type),
            "role": self.role,
            "bank": bank,
            "importance": self.importance,
            "confidence": 5 if self.verified else 2 if self.draft else 4 if self.role == Role.HUMAN else 3,
            "entities": self.entities,
            "tags": self.tags,
            "fact_key": self.fact_key,
            "user_id": PERSON,
            "session_id": self.session,
            "source_kind": self.source,
            "external_write_id": PREFIX + self.id,
            "dedup": self.dedup,
            "supersedes": supersedes,
            "event_at": None if event is None else today - dt.timedelta(days=event),
            "expires_at": None if expires is None else today + dt.timedelta(days=expires),
            "created_at": self.written_at(today),
            "status": Status.DRAFT if self.draft else None,
            "is_protected": self.protected,
        }
        return MemoryDraft.parse({name: value for name, value in said.items() if value is not None})


class Decision(_Part):
    """What the person did with a memory, and why."""

    id: str
    reason: str


class Edit(Decision):
    """A change to a memory."""

    changes: dict[str, Any]

    def to_changes(self) -> MemoryChanges:
        """What a caller would send."""
        return MemoryChanges.parse({**self.changes, "reason": self.reason})


class Tie(_Part):
    """A link between two memories."""

    source: str
    relation: Relation
    target: str


class _Frame(_Part):
    new_banks: list[BankDraft]
    agents: list[AgentDraft]
    accepted: list[Decision]
    discarded: list[Decision]
    archived: list[Decision]
    edited: list[Edit]
    links: list[Tie]


class _BankFile(_Part):
    bank: str
    memories: list[Item]


@dataclass(frozen=True)
class Story:
    """Everything the sample vault holds."""

    frame: _Frame
    files: tuple[_BankFile, ...]

    @cached_property
    def items(self) -> tuple[tuple[str, Item], ...]:
        """(bank, memory), oldest first."""
        told = [(file.bank, item) for file in self.files for item in file.memories]
        return tuple(sorted(told, key=lambda pair: (-pair[1].days_ago, pair[1].id)))

    def by_voice(self) -> Iterator[tuple[str, list[tuple[str, Item]]]]:
        """Who says what, without what replaces something: that has to come after what it replaces."""
        voices = sorted({item.by for _, item in self.items})
        for voice in voices:
            yield voice, [(bank, item) for bank, item in self.items if item.by == voice and not item.supersedes]

    def successors(self) -> list[tuple[str, Item]]:
        """What replaces something, oldest first."""
        return [(bank, item) for bank, item in self.items if item.supersedes]


def read_story() -> Story:
    """The story as its files tell it."""
    frame = _Frame.model_validate(json.loads((FOLDER / "story.json").read_text()))
    names = sorted(path for path in FOLDER.glob("*.json") if path.name not in {"story.json", "talk.json"})
    return Story(frame, tuple(_BankFile.model_validate(json.loads(path.read_text())) for path in names))
