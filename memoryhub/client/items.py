"""What agents remember, as they know it: messages by who said them, their labels and their status."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from memories.rules.messages import OTHER_ROLES, MessageDraft
from memories.rules.status import check_move
from memories.rules.tokens import estimate_tokens
from memories.rules.vocabulary import MemoryCategory as MemoryCategory
from memories.rules.vocabulary import Role, Status
from memories.rules.windowing import Item

#: Draft, accepted or discard (STA-01); the hub's own word for it.
MemoryStatus = Status


class MemoryMetadata(BaseModel):
    """Whose memory it is, to route and filter by; all of it optional. ``extra`` is the caller's own and never sealed.

    On the way to a hub, ``extra`` may also name labels the hub knows: bank, type, importance, confidence, fact_key,
    tags, entities, source_kind (MOD-18, MOD-19).
    """

    model_config = ConfigDict(frozen=True)

    user_id: str | None = None
    session_id: str | None = None
    task_id: str | None = None
    agent_id: str | None = None
    extra: dict[str, Any] = {}

    @property
    def labels(self) -> dict[str, str]:
        """The ids that are set, by name."""
        named = {"user_id": self.user_id, "session_id": self.session_id, "task_id": self.task_id}
        named["agent_id"] = self.agent_id
        return {name: value for name, value in named.items() if value is not None}


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


class MemoryItem(BaseModel):
    """One thing remembered; ``memory_type`` is who said it: system, human, ai, tool, or None (MOD-01, MOD-02)."""

    id: str = Field(default_factory=lambda: uuid.uuid4().hex)
    content: str
    memory_type: str | None = None
    status: MemoryStatus = MemoryStatus.ACCEPTED
    category: MemoryCategory | None = None
    metadata: MemoryMetadata = MemoryMetadata()
    created_at: dt.datetime = Field(default_factory=_now)
    updated_at: dt.datetime = Field(default_factory=_now)
    _similarity: float | None = PrivateAttr(None)

    def transition(self, new_status: MemoryStatus) -> None:
        """Move it on: draft to accepted or discard, accepted to discard. Raises StatusMoveRefused (STA-05, STA-07)."""
        check_move(self.status, new_status)
        self.status = new_status
        self.updated_at = _now()

    @property
    def similarity(self) -> float | None:
        """How close it is to what it was compared with, where its store can tell."""
        return self._similarity

    @property
    def tokens(self) -> int:
        """An estimate of what a model counts for it."""
        return estimate_tokens(self.content)

    def windowed(self) -> Item:
        """What windowing needs to know of it."""
        return Item(Role(self.memory_type or Role.AI), self.tokens)


class SystemMemory(MemoryItem):
    """An instruction."""

    memory_type: Literal["system"] = "system"


class HumanMemory(MemoryItem):
    """What a person said."""

    memory_type: Literal["human"] = "human"


class AIMemory(MemoryItem):
    """What a model answered, and the tools it called: ``{"id", "function": {"name", "arguments": "<JSON>"}}``."""

    memory_type: Literal["ai"] = "ai"
    tool_calls: list[dict[str, Any]] = []

    @property
    def tokens(self) -> int:
        """Calls included, counted as the hub counts them."""
        calls = [{"id": each["id"], **each["function"]} for each in _whole(self.tool_calls)]
        return MessageDraft.model_validate({"role": "ai", "content": self.content or " ", "tool_calls": calls}).tokens

    def windowed(self) -> Item:
        """With the calls it asks for."""
        calls = tuple(str(each["id"]) for each in self.tool_calls if "id" in each)
        return Item(Role.AI, self.tokens, calls=calls, speaks=bool(self.content.strip()))


class ToolMemory(MemoryItem):
    """What a tool gave back, for the call of that id."""

    memory_type: Literal["tool"] = "tool"
    tool_call_id: str
    tool_name: str = ""
    is_error: bool = False

    def windowed(self) -> Item:
        """With the call it answers."""
        return Item(Role.TOOL, self.tokens, answers=self.tool_call_id)


#: A message: an item, or a mapping with ``role`` and ``content`` as chat models write them.
type Said = MemoryItem | Mapping[str, Any]

_CLASSES: dict[str | None, type[MemoryItem]] = {
    "system": SystemMemory,
    "human": HumanMemory,
    "ai": AIMemory,
    "tool": ToolMemory,
}


def item_of(values: dict[str, Any]) -> MemoryItem:
    """The item of the class its ``memory_type`` names; what is no message any more, for want of a call, is an item."""
    kind = _CLASSES.get(values.get("memory_type"), MemoryItem)
    if kind is ToolMemory and not values.get("tool_call_id"):
        kind = MemoryItem
    return kind.model_validate(values)


def item_said(said: Said) -> MemoryItem:
    """The item a message is; roles are understood as a hub understands them."""
    if isinstance(said, MemoryItem):
        return said
    content = said.get("content")
    known = {name: said[name] for name in ("tool_calls", "tool_call_id", "is_error") if said.get(name) is not None}
    named = said.get("tool_name") or said.get("name")
    return item_of(
        {
            **known,
            **({"tool_name": named} if named else {}),
            "memory_type": OTHER_ROLES.get(str(said.get("role")), said.get("role")),
            "content": content if isinstance(content, str) else "",
        }
    )


def _whole(calls: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in calls if "id" in each and {"name", "arguments"} <= set(each.get("function", {}))]
