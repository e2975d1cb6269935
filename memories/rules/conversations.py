"""A file of conversations as memories: one memory for every turn, each with an id of its own to be found again by.

The file is JSON: ``{"source"?, "conversations": [{"id", "speakers"?, "memories": [{"id", "session", "when", "speaker",
"text", "caption"?}]}]}``; anything else in it is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memories.rules.drafts import Label, MemoryDraft, Moment
from memories.rules.limits import CONTENT_MAX
from memories.rules.vocabulary import MemoryCategory, MemoryType, Role, SourceKind
from memoryhub.lib.errors import FieldError, Invalid

ASSISTANTS = frozenset({"assistant", "ai", "bot", "model"})


class ConversationsUnreadable(Invalid):
    """That file does not hold conversations the hub can read."""

    code = "conversations_unreadable"


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)


class Turn(_Part):
    """What one speaker said at one time; `caption` describes a picture that was shared with it."""

    id: Label
    session: int | Label
    when: Moment
    speaker: Annotated[str, Field(min_length=1, max_length=200)]
    text: str
    caption: str | None = None

    @property
    def content(self) -> str:
        """The turn as a person would have seen it."""
        said = f"{self.speaker}: {self.text}" + (f" [shares {self.caption}]" if self.caption else "")
        return said[:CONTENT_MAX]


class Conversation(_Part):
    """The turns of one conversation, in order."""

    id: Label
    memories: list[Turn]


class _Document(_Part):
    conversations: Annotated[list[Conversation], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """What the person who imports decides: the bank, and whether equal turns may stand twice."""

    bank: str | None = None
    dedup: bool = False


def read_conversations(document: Any) -> list[Conversation]:
    """The conversations of a parsed file. Raises ConversationsUnreadable naming the first thing that is wrong."""
    try:
        conversations = _Document.model_validate(document).conversations
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = "".join(f"/{part}" for part in first["loc"]) or "the whole file"
        raise ConversationsUnreadable(
            f"This is not a file of conversations: at {place}, {_uncapitalised(first['msg'])}.",
            errors=[FieldError(place, first["type"], first["msg"])],
        ) from None
    _refuse_repeated_ids(conversations)
    return conversations


def _uncapitalised(text: str) -> str:
    return text[:1].lower() + text[1:]


def _refuse_repeated_ids(conversations: Sequence[Conversation]) -> None:
    seen: set[str] = set()
    for conversation in conversations:
        for turn in conversation.memories:
            name = write_id(conversation, turn)
            if name in seen:
                raise ConversationsUnreadable(f"This file names the turn {name} twice; every turn needs its own id.")
            seen.add(name)


def write_id(conversation: Conversation, turn: Turn) -> str:
    """By what the turn is recognised when the file is imported again."""
    return f"{conversation.id}:{turn.id}"


def role_of(speaker: str) -> Role:
    """People are human; only a speaker named like an assistant is one."""
    return Role.AI if speaker.strip().casefold() in ASSISTANTS else Role.HUMAN


def drafts_of(conversations: Sequence[Conversation], choices: ImportChoices) -> Iterator[MemoryDraft]:
    """One draft for every turn, in order; a conversation is one user, its sessions are sessions.

    Raises Invalid for a turn no memory can hold.
    """
    for conversation in conversations:
        for turn in conversation.memories:
            yield MemoryDraft.parse(
                {
                    "content": turn.content,
                    "type": MemoryType.EPISODIC,
                    "category": MemoryCategory.EPISODIC,
                    "role": role_of(turn.speaker),
                    "bank": choices.bank,
                    "entities": [turn.speaker],
                    "session_id": f"{conversation.id}:{turn.session}",
                    "user_id": conversation.id,
                    "source_kind": SourceKind.IMPORT,
                    "external_write_id": write_id(conversation, turn),
                    "event_at": turn.when,
                    "dedup": choices.dedup,
                },
                pointer=f"/{write_id(conversation, turn)}",
            )
