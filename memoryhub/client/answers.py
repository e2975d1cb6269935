"""What the hub answers, as objects. A newer hub's further fields are kept and can be read like the others."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """Any answer; fields this version of the client does not know are attributes too."""

    # Not a number is no number of a hub's: pydantic would read it from JSON that is none.
    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)


class Answer(Shape):
    """An answer without a class of its own: its fields are those the API's reference names."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Page[Item](Shape):
    """A part of a list; ``next_cursor`` is None at its end."""

    items: list[Item]
    next_cursor: str | None = None
    total: int | None = None


class Listing[Item](Shape):
    """A whole list."""

    items: list[Item]


class Memory(Shape):
    """One memory. ``content`` is None in a compact answer, which has a ``summary``, and where it cannot be opened."""

    id: UUID
    content: str | None = None
    summary: str | None = None
    type: str
    bank: str
    category: str | None = None
    role: str | None = None
    status: str = "accepted"
    archived: bool = False
    archived_reason: str | None = None
    importance: int = 3
    confidence: int = 3
    entities: list[str] = []
    tags: list[str] = []
    fact_key: str | None = None
    namespace: list[str] = ["default"]
    scope: str = "global"
    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    task_id: str | None = None
    extra: dict[str, Any] = {}
    source_kind: str | None = None
    trust: str | None = None
    external_write_id: str | None = None
    supersedes: UUID | None = None
    superseded_by: UUID | None = None
    expires_at: dt.datetime | None = None
    event_at: dt.datetime | None = None
    is_protected: bool = False
    is_summarized: bool = False
    version: int = 1
    created_at: dt.datetime
    updated_at: dt.datetime

    @property
    def text(self) -> str:
        """What can be shown of it: the content, else the summary, else nothing."""
        return self.content or self.summary or ""


class SearchResult(Memory):
    """A memory that was found. ``score`` orders one answer; ``scores`` has what each leg found."""

    score: float
    scores: dict[str, float] = {}


class Found(Shape):
    """An answer to a question, best first; ``degraded`` names what could not take part."""

    results: list[SearchResult]
    degraded: list[str] = []
    took_ms: float


class Context(Shape):
    """A text for a prompt, its tokens as estimated, and the memories in it."""

    text: str
    tokens: int
    memory_ids: list[UUID]


class ReadMemories(Shape):
    """Memories in the order asked, and the ids that are not there."""

    results: list[Memory]
    missing: list[str]


class Written(Shape):
    """What became of a write: ``created``, ``duplicate``, ``updated``, ``superseded`` or ``idempotent``, and why."""

    memory: Memory
    outcome: str
    duplicate_of: UUID | None = None
    superseded_id: UUID | None = None
    similarity: float | None = None
    similar_to: UUID | None = None
    pair_id: UUID | None = None
    decided_by: str
    reason: str


class BatchItem(Shape):
    """What became of one item: its memory and ``reason``, or the ``problem`` with it, and the status of either."""

    index: int
    status: int
    outcome: str
    memory: Memory | None = None
    problem: dict[str, Any] | None = None


class BatchWritten(Shape):
    """One result for each item, in the order sent."""

    results: list[BatchItem]


class MemoryPage(Page[Memory]):
    """A page of memories; ``facets`` counts by label where that was asked for."""

    facets: dict[str, list[dict[str, Any]]] | None = None


class Session(Shape):
    """A conversation; ``unread`` messages were not read for memories yet."""

    id: UUID
    session_id: str
    namespace: list[str]
    user_id: str | None = None
    agent_id: str | None = None
    task_id: str | None = None
    messages: int
    unread: int


class Message(Shape):
    """One turn."""

    id: UUID
    external_id: str | None = None
    number: int
    role: str
    content: str | None = None
    tool_calls: list[dict[str, Any]] = []
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    tokens: int
    created_at: dt.datetime


class AddedMessage(Shape):
    """What became of a turn; ``memory_id`` when it became a memory at once."""

    id: UUID
    number: int
    outcome: str
    memory_id: UUID | None = None


class AddedMessages(Shape):
    """One result for each turn, in the order sent."""

    session: Session
    results: list[AddedMessage]


class Window(Shape):
    """The turns to show a model, oldest first."""

    session: Session
    messages: list[Message]
    tokens: int
    left_out: int


class Flushed(Shape):
    """Whether there was anything to read, and the job that reads it."""

    queued: bool
    unread: int
    job_id: UUID | None = None


class Summary(Shape):
    """The running summary of a conversation."""

    session_id: str
    summary: str | None = None
    summarized: int
    messages: int


class CoreDocument(Shape):
    """What a namespace holds on to, as ``markdown`` and in lines."""

    namespace: list[str]
    version: int
    lines: list[dict[str, Any]]
    markdown: str


class Dream(Shape):
    """One consolidation: ``waiting``, ``done``, ``unchanged``, ``skipped`` (nothing new to read) or ``failed``."""

    id: UUID
    namespace: list[str]
    state: str
    reason: str
    version_before: int | None = None
    version_after: int | None = None
    job_id: UUID | None = None


class Job(Shape):
    """Background work: ``pending``, ``running``, ``done``, ``dead`` (waits for a person) or ``cancelled``."""

    id: UUID
    kind: str
    state: str
    stage: str = ""
    done: int = 0
    total: int | None = None
    error: str = ""


class Event(Shape):
    """Something that happened; ``data`` holds ids and numbers, never content."""

    id: str
    type: str
    timestamp: dt.datetime
    actor: dict[str, Any]
    request_id: str = ""
    data: dict[str, Any] = {}


class EventPage(Shape):
    """Events, oldest first; go on with ``after=next``. ``more`` says that there is something to read already."""

    items: list[Event]
    next: str
    more: bool


class Webhook(Shape):
    """An endpoint that is told of what happens; ``secret`` is only in the answer that made it."""

    id: UUID
    name: str
    url: str
    types: list[str]
    state: str
    secret: str | None = None


class Delivery(Shape):
    """One event for one endpoint: waiting, delivered or failed."""

    id: UUID
    type: str
    state: str
    attempts: int
    status: int | None = None
    error: str = ""


class Plan(Shape):
    """A clean-up that was planned; ``count`` and ``plan_hash`` are about what is chosen now."""

    id: UUID
    state: str
    count: int
    by_reason: dict[str, int]
    plan_hash: str
    job_id: UUID | None = None
    changeset_id: UUID | None = None


class Changeset(Shape):
    """Everything one action changed, which can be undone as one."""

    id: UUID
    action: str
    state: str
    count: int


class Bank(Shape):
    """A topic of the vault."""

    id: UUID
    name: str
    slug: str
    description: str = ""
    is_default: bool = False
    is_hidden: bool = False


class Agent(Shape):
    """A caller, and where its memories go."""

    id: UUID
    name: str
    description: str = ""
    default_bank: str | None = None
    preferred_banks: list[str] = []
    is_isolated: bool = False


class Key(Shape):
    """An API key; ``key`` is its secret, and there only in the answer that made it."""

    id: UUID
    name: str
    prefix: str
    scopes: list[str]
    banks: list[str] | None = None
    agent: str | None = None
    key: str | None = None


class Setting(Shape):
    """A setting: the value that holds, and where it was set."""

    key: str
    value: Any
    source: str


class WhoAmI(Shape):
    """Who the key acts as, and what it may."""

    vault: dict[str, Any]
    agent: dict[str, Any] | None = None
    scopes: list[str]
