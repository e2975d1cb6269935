"""mem0's requests in the hub's words, and the hub's memories in mem0's.

By mem0's open-source server and client 2.2.1 (2026-08): unknown fields are passed over, as there.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from memories.rules import limits
from memories.rules.drafts import Content, Label, MemoryChanges, MemoryDraft
from memories.rules.filters import MemoryFilter, SearchQuery
from memories.rules.mem0filters import EVERYBODY, IDS, as_text, read_filters
from memories.rules.vocabulary import Outcome, Role
from memoryhub.lib.errors import FieldError, Invalid, Malformed
from memoryhub.lib.moments import Day
from memoryhub.lib.strict import StrictModel

ROLES: Mapping[str, Role] = {"user": Role.HUMAN, "assistant": Role.AI, "tool": Role.TOOL}
EVENTS: Mapping[Outcome, str] = {Outcome.CREATED: "ADD", Outcome.SUPERSEDED: "UPDATE", Outcome.UPDATED: "UPDATE"}
#: What mem0 calls an entity → the id that names it.
KINDS: Mapping[str, str] = {"user": "user_id", "agent": "agent_id", "run": "run_id"}
_ROLE_WORDS: Mapping[str, str] = {role.value: word for word, role in ROLES.items()}
#: How far numbered pages reach; what lies behind is found by a filter.
PAGED_MAX = 10_000


class IdMissing(Malformed):
    """At least one identifier (user_id, agent_id, run_id) is required."""

    code = "identifier_required"


def _as_messages(value: Any) -> Any:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return [value] if isinstance(value, dict) else value


type Id = Annotated[Label | None, BeforeValidator(as_text)]


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

    def asked(self) -> dict[str, Any]:
        """Whose memories, as arguments of a filter of ours. Raises Invalid."""
        return read_filters({name: value for name in IDS if (value := getattr(self, name)) is not None}, self.filters)


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
        ids = self.asked()
        if not ids:
            raise IdMissing
        if ids.keys() - set(IDS.values()) or any(len(values) > 1 for values in ids.values()):
            detail = "what is added belongs to one user, one agent, one run: name each as a text"
            raise Invalid(errors=[FieldError("/filters", "not_one", detail)])
        kept = {"user"} if self.infer else set(ROLES)
        shared: dict[str, Any] = {name: values[0] for name, values in ids.items()} | {"extra": self.metadata or {}}
        shared |= {"expires_at": end_of(self.expiration_date), "event_at": self.timestamp}
        said = [message for message in self.messages if message.role in kept]
        return [MemoryDraft.parse({**shared, "content": one.content, "role": ROLES[one.role]}) for one in said]


def _no_app(value: Any) -> None:
    if value is not None:
        raise PydanticCustomError("unknown_id", "is of mem0's platform; here there are user_id, agent_id and run_id")


class _Asking(_Loose):
    """Passed over in a question, an app would be an answer about all of them."""

    app_id: Annotated[None, BeforeValidator(_no_app)] = None


class ListMemories(_Asking):
    """GET /memories, and the client's POST with filters."""

    top_k: Annotated[int, Field(ge=1)] = 100

    @property
    def most(self) -> int:
        """How many at most."""
        return min(self.top_k, limits.PAGE_MAX)

    def wanted(self) -> MemoryFilter:
        """The filter it is. Raises Invalid."""
        return MemoryFilter.parse(self.asked())


class Whose(StrictModel):
    """DELETE /memories: all of one user, one agent or one run, or of what these have in common.

    Strict, unlike the others: what is passed over here would take more than was meant.
    """

    user_id: Id = None
    agent_id: Id = None
    run_id: Id = None

    def everything(self) -> MemoryFilter:
        """All of theirs: drafts, and what has expired, too. Raises IdMissing, and Invalid for everybody."""
        ids = {name: value for name in IDS if (value := getattr(self, name)) is not None}
        if not ids:
            raise IdMissing
        if EVERYBODY in ids.values():
            raise Invalid(errors=[FieldError("/", "everybody", f"{EVERYBODY} names everybody; name one")])
        return MemoryFilter.parse({**read_filters(ids, None), "status": "any", "archived": "any"})


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


class SearchMemories(_Asking):
    """POST /search."""

    query: Annotated[str, Field(min_length=1, max_length=limits.QUERY_MAX)]
    top_k: Annotated[int, Field(ge=1)] | None = None
    limit: Annotated[int, Field(ge=1)] | None = None
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None

    def question(self) -> SearchQuery:
        """The search it is. Raises Invalid."""
        most = min(self.top_k or self.limit or 10, limits.TOP_K_MAX)
        limit = {} if self.threshold is None else {"threshold": self.threshold}
        return SearchQuery.parse({**self.asked(), "query": self.query, "top_k": most, **limit})


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
