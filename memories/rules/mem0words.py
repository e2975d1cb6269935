"""mem0's requests in the hub's words, and the hub's memories in mem0's.

By mem0's open-source server and client 2.2.1 (2026-08): unknown fields are passed over, as there.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from memories.rules import limits
from memories.rules.drafts import Content, Label, MemoryChanges, MemoryDraft
from memories.rules.filters import MemoryFilter, SearchQuery
from memories.rules.vocabulary import Outcome, Role
from memoryhub.lib.errors import FieldError, Invalid, Malformed
from memoryhub.lib.moments import Day
from memoryhub.lib.strict import StrictModel

#: Their name → ours.
IDS: Mapping[str, str] = {"user_id": "user_id", "agent_id": "agent_id", "run_id": "session_id"}
ROLES: Mapping[str, Role] = {"user": Role.HUMAN, "assistant": Role.AI, "tool": Role.TOOL}
EVENTS: Mapping[Outcome, str] = {Outcome.CREATED: "ADD", Outcome.SUPERSEDED: "UPDATE", Outcome.UPDATED: "UPDATE"}
_ROLE_WORDS: Mapping[str, str] = {role.value: word for word, role in ROLES.items()}
_EVERYBODY = "*"
#: How far numbered pages reach; what lies behind is found by a filter.
PAGED_MAX = 10_000


class IdMissing(Malformed):
    """At least one identifier (user_id, agent_id, run_id) is required."""

    code = "identifier_required"


def _as_messages(value: Any) -> Any:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return [value] if isinstance(value, dict) else value


def _unless_empty(value: Any) -> Any:
    """An id that is there but empty is none."""
    return None if value == "" else value


type Id = Annotated[Label | None, BeforeValidator(_unless_empty)]


def _from_seconds(value: Any) -> Any:
    """Seconds since 1970 as a moment; a text stays one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        return dt.datetime.fromtimestamp(value, dt.UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise ValueError("is no moment in seconds since 1970") from error


type Stamp = Annotated[dt.datetime | str | None, BeforeValidator(_from_seconds)]


class _Loose(StrictModel):
    """Fields that are not known are passed over; the values are as strict as everywhere."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

    user_id: Id = None
    agent_id: Id = None
    run_id: Id = None
    filters: dict[str, Any] | None = None

    def ids(self) -> dict[str, list[str]]:
        """Whose memories: our names of the ids → the values any of which may stand there. Raises Invalid."""
        found = {name: [value] for name in IDS if (value := getattr(self, name)) is not None}
        for name, values in _named_in(self.filters or {}):
            found[name] = _both(found.get(name, [_EVERYBODY]), values)
            if not found[name]:
                raise Invalid(errors=[FieldError("/filters", "nobody", f"no {name} is left that all of it names")])
        return {IDS[name]: values for name, values in found.items() if _EVERYBODY not in values}


class Message(StrictModel):
    """One turn; only texts are remembered."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: Annotated[str, Field(max_length=limits.LABEL_MAX)] = "user"
    content: Content


class AddMemories(_Loose):
    """POST /memories. With ``infer`` what the user said is remembered, without it every turn but the system's."""

    messages: Annotated[
        list[Message], BeforeValidator(_as_messages), Field(min_length=1, max_length=limits.MESSAGES_MAX)
    ]
    metadata: dict[str, Any] | None = None
    infer: bool = True
    expiration_date: Day | None = None
    timestamp: Stamp = None

    def drafts(self) -> list[MemoryDraft]:
        """The writes it is, in their order. Raises IdMissing, Invalid."""
        ids = self.ids()
        if not ids:
            raise IdMissing
        kept = {"user"} if self.infer else set(ROLES)
        shared: dict[str, Any] = {name: values[0] for name, values in ids.items()} | {"extra": self.metadata or {}}
        shared |= {"expires_at": end_of(self.expiration_date), "event_at": self.timestamp}
        said = [message for message in self.messages if message.role in kept]
        return [MemoryDraft.parse({**shared, "content": one.content, "role": ROLES[one.role]}) for one in said]


class ListMemories(_Loose):
    """GET /memories, and the client's POST with filters."""

    top_k: Annotated[int, Field(ge=1)] = 100

    @property
    def most(self) -> int:
        """How many at most."""
        return min(self.top_k, limits.PAGE_MAX)

    def wanted(self) -> MemoryFilter:
        """The filter it is. Raises Invalid."""
        return MemoryFilter.parse(self.ids())


class Paging(StrictModel):
    """Which page of the list; the client sends it beside the body."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    page: Annotated[int, Field(ge=1, le=PAGED_MAX)] = 1
    page_size: Annotated[int, Field(ge=1)] | None = None

    def size(self, most: int) -> int:
        """How many on a page, ``most`` unless it was said. Raises Invalid for a page too far down."""
        size = min(self.page_size or most, limits.PAGE_MAX)
        if self.page * size > PAGED_MAX:
            detail = f"pages reach {PAGED_MAX} memories down; narrow the filters"
            raise Invalid(errors=[FieldError("/page", "too_far", detail)])
        return size


class SearchMemories(_Loose):
    """POST /search."""

    query: Annotated[str, Field(min_length=1, max_length=limits.QUERY_MAX)]
    top_k: Annotated[int, Field(ge=1)] | None = None
    limit: Annotated[int, Field(ge=1)] | None = None
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None

    def question(self) -> SearchQuery:
        """The search it is. Raises Invalid."""
        most = min(self.top_k or self.limit or 10, limits.TOP_K_MAX)
        limit = {} if self.threshold is None else {"threshold": self.threshold}
        return SearchQuery.parse({**self.ids(), "query": self.query, "top_k": most, **limit})


class UpdateMemory(StrictModel):
    """PUT /memories/{id}: the text under any of the names it had, and what stands beside it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    text: Content | None = None
    memory: Content | None = None
    data: Content | None = None
    metadata: dict[str, Any] | None = None
    expiration_date: Day | None = None
    timestamp: Stamp = None

    def changes(self, extra: Mapping[str, Any]) -> MemoryChanges:
        """The change it is; metadata is laid over ``extra``, as mem0 does. Raises Invalid when it names nothing."""
        text = self.text or self.memory or self.data
        given: dict[str, Any] = {} if text is None else {"content": text}
        if self.metadata is not None:
            given["extra"] = {**extra, **self.metadata}
        if "expiration_date" in self.model_fields_set:
            given["expires_at"] = end_of(self.expiration_date)
        if self.timestamp is not None:
            given["event_at"] = self.timestamp
        if not given:
            detail = "say the new text, metadata, expiration_date or timestamp"
            raise Invalid(errors=[FieldError("/text", "required", detail)])
        return MemoryChanges.parse(given)


def end_of(day: dt.date | None) -> dt.datetime | None:
    """The last moment of a day: what expires on a day still holds on it."""
    return None if day is None else dt.datetime.combine(day, dt.time.max, dt.UTC)


def role_word(role: str | None) -> str | None:
    """A role as mem0 calls it."""
    return _ROLE_WORDS.get(role or "", role)


def _both(some: list[str], others: list[str]) -> list[str]:
    """Who is in both lists."""
    if _EVERYBODY in some:
        return others
    return some if _EVERYBODY in others else [one for one in some if one in others]


def _named_in(filters: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The ids of a filter: plain, in a list, or joined by AND. Raises Invalid for what the hub cannot ask."""
    for name, value in filters.items():
        if name == "AND" and isinstance(value, list) and all(isinstance(part, dict) for part in value):
            for part in value:
                yield from _named_in(part)
        elif name in IDS and isinstance(value, str):
            yield name, [value]
        elif name in IDS and isinstance(value, dict) and set(value) <= {"in", "eq"} and value:
            listed = next(iter(value.values()))
            yield name, [str(one) for one in (listed if isinstance(listed, list) else [listed])]
        else:
            known = ", ".join(IDS)
            detail = f"only {known}, one of them or several joined by AND, can be filtered by here"
            raise Invalid(errors=[FieldError("/filters", "unknown_filter", detail)])


@dataclass(frozen=True, slots=True)
class Kept:
    """What a memory was before one change: its text then (None when it does not open), and what changed."""

    version: int
    changed: Sequence[str]
    before: Mapping[str, Any]
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry of a history."""

    event: Literal["ADD", "UPDATE", "DELETE"]
    old: str | None
    new: str | None
    version: int
    at: dt.datetime


def history_of(kept: Sequence[Kept], content: str | None, created_at: dt.datetime) -> list[Turn]:
    """A memory's life in mem0's three events, oldest first; ``kept`` oldest first, ``content`` as it is now."""
    told = [one for one in kept if "content" in one.changed]
    texts = [*(one.before.get("content") for one in told), content]
    turns = [Turn("ADD", None, texts[0], 0, created_at)]
    turns += [Turn("UPDATE", texts[n], texts[n + 1], one.version, one.at) for n, one in enumerate(told)]
    gone = [one for one in kept if "archived" in one.changed and one.before.get("archived_at") is None]
    turns += [Turn("DELETE", content, None, one.version, one.at) for one in gone]
    return sorted(turns, key=lambda turn: (turn.version, turn.at))
