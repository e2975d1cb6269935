"""What a caller may ask for: list filters and search options, one frozen object each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool
from pydantic_core import PydanticCustomError

from memories.rules import limits
from memories.rules.drafts import Entity, Label, Moment, Namespace, Tag
from memories.rules.vocabulary import MemoryCategory, MemoryType, Role, SourceKind, Status, Trust
from memoryhub.lib.clock import now
from memoryhub.lib.openapi.shapes import shown
from memoryhub.lib.strict import StrictModel, refuse_nothing


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


class SearchMode(StrEnum):
    """By words and meaning, or by words alone, which asks no embedder."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"


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


def _naming(value: object) -> object:
    """A filter by nothing would be no filter at all, and answer about everybody."""
    return _listed(refuse_nothing(value))


def _one_at_least(schema: dict[str, Any]) -> None:
    schema["minItems"] = 1
    schema.pop("default", None)


def _with_a_zone(value: object) -> object:
    """Elsewhere a moment without a zone is UTC; here it would silently answer for another day."""
    moment = value
    if isinstance(value, str):
        try:
            moment = dt.datetime.fromisoformat(value.strip())
        except ValueError:
            raise PydanticCustomError("moment", _MOMENT_WANTED) from None
    if isinstance(moment, dt.datetime) and moment.tzinfo is None:
        raise PydanticCustomError("needs_time_zone", _MOMENT_WANTED)
    return moment


def _not_to_come(value: dt.datetime) -> dt.datetime:
    if value > (present := now()):
        raise PydanticCustomError(
            "in_the_future", "is yet to come; the hub's clock says {present}", {"present": present.isoformat()}
        )
    return value


_MOMENT_WANTED = (
    "must be a moment with its time zone, such as 2026-11-21T10:00:00Z or 2026-11-21T11:00:00+01:00"
    " (in an address, write + as %2B)"
)
#: A moment that has been, its zone said.
PastMoment = Annotated[Moment, BeforeValidator(_with_a_zone), AfterValidator(_not_to_come)]
T = TypeVar("T")
#: One or more, any of which will do; a single one needs no list.
Some = Annotated[list[T], BeforeValidator(_naming), Field(json_schema_extra=_one_at_least)]
Query = Annotated[str, Field(max_length=limits.QUERY_MAX)]
Question = Annotated[str, Field(min_length=1, max_length=limits.QUERY_MAX, strict=True, pattern=r"\S")]
Threshold = Annotated[float, Field(ge=0, le=1, strict=True)]


class MemoryFilter(StrictModel):
    """Every filter of GET /memories; a list means any of them, and filters are AND-ed (MOD-12)."""

    aliases: ClassVar[Mapping[str, str]] = {"memoryType": "type", "memory_type": "type", "memory_bank": "bank"}
    #: Where the caller named the banks, for a refusal to point at.
    banks_pointer: ClassVar[str] = "/bank"

    q: Query = ""
    bank: Some[Label] = []
    type: Some[MemoryType] = []
    category: Some[MemoryCategory] = []
    role: Some[Role] = []
    status: StatusFilter = StatusFilter.ACCEPTED
    archived: Presence = Presence.FALSE
    agent_id: Some[Label] = []
    user_id: Some[Label] = []
    session_id: Some[Label] = []
    task_id: Some[Label] = []
    tag: Some[Tag] = []
    entity: Some[Entity] = []
    namespace: Annotated[Namespace | None, BeforeValidator(_listed)] = None
    source_kind: Some[SourceKind] = []
    confidence: Some[Annotated[int, Field(ge=1, le=5)]] = []
    min_importance: Annotated[int, Field(ge=1, le=5)] = 1
    min_trust: Trust | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None
    is_protected: bool | None = None
    external_write_id: Label | None = None
    fact_key: Label | None = None
    as_of: PastMoment | None = None


class NarrowedFilter(MemoryFilter):
    """A list filter made from the limits of a search or a context, whose callers say ``banks``."""

    banks_pointer: ClassVar[str] = "/banks"


class Narrowing(StrictModel):
    """What search and context have in common: which memories may take part; a list means any of them (MOD-12)."""

    aliases: ClassVar[Mapping[str, str]] = {
        "memoryType": "type",
        "memory_type": "type",
        "bank": "banks",
        "memory_bank": "banks",
        "memoryBank": "banks",
    }

    type: Some[MemoryType] = []
    category: Some[MemoryCategory] = []
    role: Some[Role] = []
    banks: Annotated[Some[Label], Field(max_length=limits.SEARCH_BANKS_MAX)] = []
    namespace: Annotated[Namespace | None, BeforeValidator(_listed)] = None
    user_id: Some[Label] = []
    agent_id: Some[Label] = []
    session_id: Some[Label] = []
    task_id: Some[Label] = []
    tag: Some[Tag] = []
    entity: Some[Entity] = []
    min_importance: Annotated[int, Field(ge=1, le=5, strict=True)] = 1
    min_trust: Trust | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None
    is_protected: StrictBool | None = None
    external_write_id: Label | None = None
    fact_key: Label | None = None

    def filters(self) -> MemoryFilter:
        """The same limits as a list filter, so that both are turned into SQL by one piece of code."""
        # Only what was said: conditions in ``q`` may speak about what was not.
        given = {name: getattr(self, name) for name in MemoryFilter.model_fields.keys() & self.model_fields_set}
        return NarrowedFilter.model_validate(given | ({"bank": self.banks} if self.banks else {}))


class SearchQuery(Narrowing):
    """Every option of POST /memories/search (SRC-01, API-06)."""

    model_config = shown({"query": "What does Alice drink?", "top_k": 5, "banks": ["Personal"], "type": ["preference"]})

    aliases: ClassVar[Mapping[str, str]] = {**Narrowing.aliases, "limit": "top_k"}

    query: Question
    #: Conditions and phrases in the query language, beside the question.
    q: Query = ""
    mode: SearchMode = SearchMode.HYBRID
    #: Settings of search for this one request (CFG-02).
    settings: Annotated[dict[str, Any], Field(max_length=limits.SEARCH_SETTINGS_MAX)] = {}
    top_k: Annotated[int, Field(ge=1, le=limits.TOP_K_MAX, strict=True)] = 10
    max_tokens: Annotated[int, Field(ge=1, le=limits.CONTEXT_TOKENS_MAX, strict=True)] | None = None
    threshold: Threshold | None = None
    status: StatusFilter = StatusFilter.ACCEPTED
    compact: StrictBool = False
    include_archived: StrictBool = False
    as_of: PastMoment | None = None
    explain: StrictBool = False

    def filters(self) -> MemoryFilter:
        """With ``include_archived`` both what is archived and what is not."""
        wanted = super().filters()
        return wanted.model_copy(update={"archived": Presence.ANY}) if self.include_archived else wanted

    @property
    def most(self) -> int:
        """How many hits at most: a token budget stands in for ``top_k`` unless both are given."""
        is_budget = self.max_tokens is not None and "top_k" not in self.model_fields_set
        return limits.TOP_K_MAX if is_budget else self.top_k


class AbsenceQuery(SearchQuery):
    """A search, and the memory that is missed in its answer."""

    model_config = shown({"query": "What does Alice drink?", "id": "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b17"})

    aliases: ClassVar[Mapping[str, str]] = {**SearchQuery.aliases, "memory_id": "id", "memoryId": "id"}

    id: Label


class ContextQuery(Narrowing):
    """Every option of POST /memories/context (INJ-01, BNK-07). What no longer holds cannot be asked for (INJ-07)."""

    model_config = shown({"query": "Plan a tasting for Alice.", "max_tokens": 600})

    query: Question | None = None
    max_tokens: Annotated[int, Field(ge=1, le=limits.CONTEXT_TOKENS_MAX, strict=True)] | None = None
    threshold: Threshold | None = None
    #: Unlike a search, which a person reads: a prompt never mixes namespaces unasked.
    namespace: Annotated[Namespace, BeforeValidator(_listed)] = ["default"]

    def filters(self) -> MemoryFilter:
        """In one namespace, also when none was named."""
        return super().filters().model_copy(update={"namespace": self.namespace})


__all__ = [
    "AbsenceQuery",
    "ContextQuery",
    "MemoryFilter",
    "Presence",
    "SearchMode",
    "SearchQuery",
    "Sort",
    "Status",
    "StatusFilter",
]
