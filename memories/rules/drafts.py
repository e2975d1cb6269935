"""What a caller may write: the body of POST /memories and of PATCH, validated once for every door (API-05, 08)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool
from pydantic_core import PydanticCustomError

from memories.rules import limits
from memories.rules.vocabulary import (
    MemoryCategory,
    MemoryType,
    PairDecision,
    Role,
    Scope,
    Side,
    SourceKind,
    Status,
    Trust,
)
from memoryhub.lib.moments import EARLIEST as EARLIEST
from memoryhub.lib.moments import LATEST as LATEST
from memoryhub.lib.moments import Moment as Moment
from memoryhub.lib.openapi.shapes import changes_shown, shown
from memoryhub.lib.strict import StrictModel


def _trimmed(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _unique(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _small(value: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(value, ensure_ascii=False).encode()) > limits.EXTRA_BYTES_MAX:
        raise PydanticCustomError("too_large", "is larger than {limit} bytes", {"limit": limits.EXTRA_BYTES_MAX})
    return value


Label = Annotated[str, BeforeValidator(_trimmed), Field(min_length=1, max_length=limits.LABEL_MAX, strict=True)]
Tag = Annotated[str, BeforeValidator(_trimmed), Field(min_length=1, max_length=limits.TAG_MAX, strict=True)]
Entity = Annotated[str, BeforeValidator(_trimmed), Field(min_length=1, max_length=limits.ENTITY_MAX, strict=True)]
Content = Annotated[str, BeforeValidator(_trimmed), Field(min_length=1, max_length=limits.CONTENT_MAX, strict=True)]
Reason = Annotated[str, BeforeValidator(_trimmed), Field(max_length=limits.REASON_MAX, strict=True)]
Score = Annotated[int, Field(ge=1, le=5, strict=True)]
Tags = Annotated[list[Tag], Field(max_length=limits.TAGS_MAX), AfterValidator(_unique)]
Entities = Annotated[list[Entity], Field(max_length=limits.ENTITIES_MAX), AfterValidator(_unique)]
Extra = Annotated[dict[str, Any], AfterValidator(_small)]
Namespace = Annotated[list[Label], Field(min_length=1, max_length=limits.NAMESPACE_PARTS_MAX)]

_WORDS_OF_THE_SEEDS: Mapping[str, str] = {
    "memoryType": "type",
    "memory_type": "type",
    "memory_bank": "bank",
    "memoryBank": "bank",
    "supersededById": "supersedes",
    "superseded_by_id": "supersedes",
}


class MemoryDraft(StrictModel):
    """One memory to write. ``supersedes`` names the old memory it replaces (CON-23)."""

    model_config = shown(
        {
            "content": "Alice prefers green tea.",
            "type": "preference",
            "bank": "Personal",
            "importance": 4,
            "tags": ["drinks"],
            "entities": ["Alice"],
            "user_id": "alice",
            "fact_key": "user.favourite_drink",
            "source_kind": "user_stated",
        }
    )

    aliases: ClassVar[Mapping[str, str]] = _WORDS_OF_THE_SEEDS

    content: Content
    type: MemoryType = MemoryType.FACT
    bank: Label | None = None
    category: MemoryCategory | None = None
    role: Role | None = None
    importance: Score = 3
    confidence: Score = 3
    entities: Entities = []
    tags: Tags = []
    fact_key: Label | None = None
    namespace: Namespace = ["default"]
    scope: Scope = Scope.GLOBAL
    user_id: Label | None = None
    agent_id: Label | None = None
    session_id: Label | None = None
    task_id: Label | None = None
    extra: Extra = {}
    source_kind: SourceKind | None = None
    external_write_id: Label | None = None
    dedup: StrictBool | None = None
    supersedes: Label | None = None
    expires_at: Moment | None = None
    event_at: Moment | None = None
    created_at: Moment | None = None
    status: Status | None = None
    is_protected: StrictBool = False
    vault_id: Label | None = None


class MemoryChanges(StrictModel):
    """Fields to change; what is left out stays, ``null`` clears what may be empty (API-08)."""

    model_config = changes_shown(
        {"content": "Alice prefers green tea, never after four.", "importance": 5, "reason": "She said so again."}
    )

    aliases: ClassVar[Mapping[str, str]] = {**_WORDS_OF_THE_SEEDS, "memoryId": "id", "memory_id": "id"}

    id: Label | None = None
    content: Content = Field(default="", validate_default=False)
    type: MemoryType = MemoryType.FACT
    bank: Label = ""
    category: MemoryCategory | None = None
    role: Role | None = None
    importance: Score = 3
    confidence: Score = 3
    entities: Entities = []
    tags: Tags = []
    fact_key: Label | None = None
    user_id: Label | None = None
    session_id: Label | None = None
    task_id: Label | None = None
    extra: Extra = {}
    expires_at: Moment | None = None
    event_at: Moment | None = None
    is_protected: StrictBool = False
    trust: Trust = Trust.INFERRED
    reason: Reason = ""

    def given(self) -> dict[str, Any]:
        """Only the fields the caller named, without the id and the reason."""
        return {name: getattr(self, name) for name in self.model_fields_set if name not in {"id", "reason"}}


class Resolution(StrictModel):
    """What a person decides about two close memories; ``content`` is the merged text, ``keep`` whose row stays."""

    model_config = shown({"decision": "merge", "keep": "newer", "content": "Alice prefers green tea, hot."})

    decision: PairDecision
    keep: Side | None = None
    content: Content | None = None
    reason: Reason = ""
