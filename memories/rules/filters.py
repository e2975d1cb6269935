"""What a caller may ask for: list filters and search options, one frozen object each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, StrictBool

from memories.rules import limits
from memories.rules.drafts import Entity, Label, Moment, Namespace, Tag
from memories.rules.vocabulary import MemoryCategory, MemoryType, Role, Status, Trust
from memoryhub.lib.strict import StrictModel


class Presence(StrEnum):
    """``false`` hides them, ``true`` shows only them, ``any`` shows both."""

    FALSE = "false"
    TRUE = "true"
    ANY = "any"


class StatusFilter(StrEnum):
    """A status, or every status."""

    DRAFT = "draft"
    ACCEPTED = "accepted"
    DISCARD = "discard"
    ANY = "any"


class Sort(StrEnum):
    """Orders a list can have; ``-`` means descending."""

    NEWEST = "-created_at"
    OLDEST = "created_at"
    CHANGED = "-updated_at"
    UNCHANGED = "updated_at"
    MOST_IMPORTANT = "-importance"
    LEAST_IMPORTANT = "importance"


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Query = Annotated[str, Field(max_length=limits.QUERY_MAX)]


class MemoryFilter(StrictModel):
    """Every filter of GET /memories; a list means any of them, and filters are AND-ed (MOD-12)."""

    aliases: ClassVar[Mapping[str, str]] = {"memoryType": "type", "memory_type": "type", "memory_bank": "bank"}

    q: Query = ""
    bank: Annotated[list[Label], BeforeValidator(_listed)] = []
    type: Annotated[list[MemoryType], BeforeValidator(_listed)] = []
    category: Annotated[list[MemoryCategory], BeforeValidator(_listed)] = []
    role: Annotated[list[Role], BeforeValidator(_listed)] = []
    status: StatusFilter = StatusFilter.ACCEPTED
    archived: Presence = Presence.FALSE
    agent_id: Annotated[list[Label], BeforeValidator(_listed)] = []
    user_id: Annotated[list[Label], BeforeValidator(_listed)] = []
    session_id: Annotated[list[Label], BeforeValidator(_listed)] = []
    task_id: Annotated[list[Label], BeforeValidator(_listed)] = []
    tag: Annotated[list[Tag], BeforeValidator(_listed)] = []
    entity: Annotated[list[Entity], BeforeValidator(_listed)] = []
    namespace: Annotated[Namespace | None, BeforeValidator(_listed)] = None
    min_importance: Annotated[int, Field(ge=1, le=5)] = 1
    min_trust: Trust | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None
    is_protected: bool | None = None
    external_write_id: Label | None = None
    fact_key: Label | None = None


class SearchQuery(StrictModel):
    """Every option of POST /memories/search (SRC-01, API-06)."""

    aliases: ClassVar[Mapping[str, str]] = {
        "memoryType": "type",
        "memory_type": "type",
        "bank": "banks",
        "memory_bank": "banks",
        "limit": "top_k",
    }

    query: Annotated[str, Field(min_length=1, max_length=limits.QUERY_MAX, strict=True, pattern=r"\S")]
    top_k: Annotated[int, Field(ge=1, le=limits.TOP_K_MAX, strict=True)] = 10
    threshold: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    type: Annotated[list[MemoryType], BeforeValidator(_listed)] = []
    category: Annotated[list[MemoryCategory], BeforeValidator(_listed)] = []
    role: Annotated[list[Role], BeforeValidator(_listed)] = []
    banks: Annotated[list[Label], BeforeValidator(_listed), Field(max_length=limits.SEARCH_BANKS_MAX)] = []
    status: StatusFilter = StatusFilter.ACCEPTED
    namespace: Annotated[Namespace | None, BeforeValidator(_listed)] = None
    user_id: Annotated[list[Label], BeforeValidator(_listed)] = []
    agent_id: Annotated[list[Label], BeforeValidator(_listed)] = []
    session_id: Annotated[list[Label], BeforeValidator(_listed)] = []
    task_id: Annotated[list[Label], BeforeValidator(_listed)] = []
    tag: Annotated[list[Tag], BeforeValidator(_listed)] = []
    entity: Annotated[list[Entity], BeforeValidator(_listed)] = []
    min_importance: Annotated[int, Field(ge=1, le=5, strict=True)] = 1
    min_trust: Trust | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None
    compact: StrictBool = False
    include_archived: StrictBool = False
    explain: StrictBool = False

    def filters(self) -> MemoryFilter:
        """The same limits as a list filter, so that both are turned into SQL by one piece of code."""
        shared = MemoryFilter.model_fields.keys() & type(self).model_fields.keys()
        return MemoryFilter.model_validate(
            {name: getattr(self, name) for name in shared}
            | {"bank": self.banks, "archived": Presence.ANY if self.include_archived else Presence.FALSE}
        )


__all__ = ["MemoryFilter", "Presence", "SearchQuery", "Sort", "Status", "StatusFilter"]
