"""What may be said beside a verb's subject, by name. The hub checks the values and names each mistake."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict
from uuid import UUID

type Moment = dt.datetime | str
type Id = UUID | str
type OneOrMore = str | Sequence[str]


class MemoryFields(TypedDict, total=False):
    """Labels of a memory that is written. ``supersedes`` is the id of the old memory it replaces."""

    type: str
    bank: str | None
    category: str | None
    role: str | None
    importance: int
    confidence: int
    entities: Sequence[str]
    tags: Sequence[str]
    fact_key: str | None
    namespace: Sequence[str]
    scope: str
    user_id: str | None
    agent_id: str | None
    session_id: str | None
    task_id: str | None
    extra: Mapping[str, Any]
    source_kind: str | None
    external_write_id: str | None
    dedup: bool | None
    supersedes: Id | None
    expires_at: Moment | None
    event_at: Moment | None
    created_at: Moment | None
    status: str | None
    is_protected: bool
    vault_id: Id | None


class MemoryDraft(MemoryFields):
    """A whole memory, for a batch."""

    content: str


class MemoryChanges(TypedDict, total=False):
    """What is changed of a memory; None clears what may be empty, what is left out stays."""

    content: str
    type: str
    bank: str
    category: str | None
    role: str | None
    importance: int
    confidence: int
    entities: Sequence[str]
    tags: Sequence[str]
    fact_key: str | None
    user_id: str | None
    session_id: str | None
    task_id: str | None
    extra: Mapping[str, Any]
    expires_at: Moment | None
    event_at: Moment | None
    is_protected: bool
    trust: str
    reason: str


class _Narrowing(TypedDict, total=False):
    """Which memories take part; several values of one mean any of them, several tags or entities all."""

    type: OneOrMore
    category: OneOrMore
    role: OneOrMore
    namespace: OneOrMore
    user_id: OneOrMore
    agent_id: OneOrMore
    session_id: OneOrMore
    task_id: OneOrMore
    tag: OneOrMore
    entity: OneOrMore
    min_importance: int
    min_trust: str | None
    created_after: Moment | None
    created_before: Moment | None
    is_protected: bool | None
    external_write_id: str | None
    fact_key: str | None


class MemoryFilters(_Narrowing, total=False):
    """Filters, order and page of a list. ``q`` is words and conditions: ``bank:work -tag:tmp "exact phrase"``."""

    q: str
    bank: OneOrMore
    status: str
    archived: str
    source_kind: OneOrMore
    confidence: int | Sequence[int]
    as_of: Moment | None
    sort: str
    limit: int
    cursor: str | None
    facets: str
    compact: bool


class SearchOptions(_Narrowing, total=False):
    """Options of a search."""

    q: str
    mode: str
    settings: Mapping[str, Any]
    top_k: int
    max_tokens: int | None
    threshold: float | None
    banks: OneOrMore
    status: str
    compact: bool
    include_archived: bool
    as_of: Moment | None
    explain: bool


class ContextOptions(_Narrowing, total=False):
    """Options of a context."""

    threshold: float | None
    banks: OneOrMore


class Turn(TypedDict, total=False):
    """One message: ``role`` is human, ai, system or tool; ``id`` is the caller's, by which a repeated one is known."""

    role: str
    content: str
    id: str | None
    tool_calls: Sequence[Mapping[str, Any]]
    tool_call_id: str | None
    tool_name: str | None
    is_error: bool
    created_at: Moment | None


class ConversationLabels(TypedDict, total=False):
    """Whose conversation it is; set once, by the first message."""

    user_id: str | None
    agent_id: str | None
    task_id: str | None
    namespace: Sequence[str] | None


class WindowOptions(TypedDict, total=False):
    """How much of a conversation to show; ``scope`` is session, user or task."""

    max_rounds: int | None
    max_tokens: int | None
    limit: int | None
    scope: str | None


class BulkOptions(TypedDict, total=False):
    """Which memories, by ``ids`` or by ``query`` with the count that was seen; and what the action needs."""

    ids: Sequence[Id] | None
    query: Mapping[str, Any] | None
    exclude_ids: Sequence[Id]
    expected_count: int | None
    bank: str | None
    tags: Sequence[str] | None
    importance: int | None
    category: str | None
    reason: str


class PlanChoice(TypedDict, total=False):
    """What is chosen of a plan."""

    memory_ids: Sequence[Id] | None
    reason: str | None
    ticked: bool | None
    never_again: bool | None
    keeper: Id | None


class AgentFields(TypedDict, total=False):
    """What is said of an agent."""

    name: str
    description: str
    default_bank: str | None
    preferred_banks: Sequence[str]
    is_isolated: bool
    trust_ceiling: str


class RetentionFields(TypedDict, total=False):
    """What a bank keeps."""

    dry_run: bool
    enabled: bool | None
    max_age_days: int | None
    inactive_days: int | None
    max_memories: int | None
    types: Sequence[str] | None
    categories: Sequence[str] | None
    purge_discarded_days: int | None
    purge_archived_days: int | None


class ImportOptions(TypedDict, total=False):
    """How a file is brought in; ``dry_run`` only reports. ``kind`` says whose it is, ``auto`` finds out."""

    kind: str
    name: str
    bank: str
    namespace: Sequence[str]
    dry_run: bool
    dedup: bool
    update: bool
    keep_provenance: bool
    complete: bool
