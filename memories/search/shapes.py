"""Memories as JSON. The typed dicts are both what mypy checks and what OpenAPI shows, so the two cannot drift."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict
from uuid import UUID

from pydantic import with_config

from banks.access import Access
from memories.models import Memory
from memories.rules.summaries import summary_of
from memories.rules.vocabulary import IndexState, MemoryCategory, MemoryType, Role, Scope, SourceKind, Status, Trust
from memories.search.relatives import NONE, Relatives, relatives
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.sealing import opened

#: A memory in the reference; what carries one, and more, says the rest.
MEMORY_SHOWN: Mapping[str, Any] = {
    "content": "Alice prefers green tea.",
    "type": "preference",
    "bank": "Personal",
    "status": "accepted",
    "importance": 4,
    "confidence": 3,
    "entities": ["Alice"],
    "tags": ["drinks"],
    "fact_key": "user.favourite_drink",
    "namespace": ["default"],
    "scope": "global",
    "user_id": "alice",
    "source_kind": "user_stated",
    "trust": "stated",
    "dedup": True,
    "index_state": "ready",
    "version": 7,
    "access_count": 12,
}


@with_config(shown(MEMORY_SHOWN))
class MemoryOut(TypedDict):
    """Every write field and what the hub adds; compact answers carry ``summary`` instead of ``content``."""

    id: UUID
    vault_id: UUID
    content: NotRequired[str | None]
    summary: NotRequired[str | None]
    unreadable: NotRequired[bool]
    type: Annotated[str, Word(MemoryType)]
    bank: str
    category: Annotated[str, Word(MemoryCategory)] | None
    role: Annotated[str, Word(Role)] | None
    status: Annotated[str, Word(Status)]
    archived: bool
    archived_at: dt.datetime | None
    archived_reason: str | None
    importance: int
    confidence: int
    entities: list[str]
    tags: list[str]
    fact_key: str | None
    namespace: list[str]
    scope: Annotated[str, Word(Scope)]
    user_id: str | None
    agent_id: str | None
    session_id: str | None
    task_id: str | None
    extra: dict[str, Any]
    source_kind: Annotated[str, Word(SourceKind)]
    trust: Annotated[str, Word(Trust)]
    external_write_id: str | None
    dedup: bool
    supersedes: UUID | None
    superseded_by: UUID | None
    expires_at: dt.datetime | None
    event_at: dt.datetime | None
    is_protected: bool
    is_summarized: bool
    summarized_from: list[UUID]
    index_state: Annotated[str, Word(IndexState)]
    version: int
    created_at: dt.datetime
    updated_at: dt.datetime
    last_accessed_at: dt.datetime | None
    last_confirmed_at: dt.datetime | None
    access_count: int


def memory_out(memory: Memory, kin: Relatives = NONE, *, compact: bool = False) -> MemoryOut:
    """One memory. What does not open is null and marked ``unreadable``: one broken row never fails an answer."""
    shown = _clear_fields(memory, kin)
    content = opened(memory, "content")
    if compact:
        shown["summary"] = content and summary_of(content)
    else:
        shown["content"] = content
    if content is None:
        shown["unreadable"] = True
    return shown


def memories_out(
    access: Access, memories: Sequence[Memory], *, compact: bool = False, at: dt.datetime | None = None
) -> list[MemoryOut]:
    """Several memories, each with its relatives; ``at`` is the moment they are shown as of."""
    kin = relatives(access, memories, at)
    return [memory_out(memory, kin[memory.pk], compact=compact) for memory in memories]


def _clear_fields(memory: Memory, kin: Relatives) -> MemoryOut:
    return {
        "id": memory.pk,
        "vault_id": memory.vault_id,
        "type": memory.type,
        "bank": memory.bank.name,
        "category": memory.category,
        "role": memory.role,
        "status": memory.status,
        "archived": memory.archived_at is not None,
        "archived_at": memory.archived_at,
        "archived_reason": opened(memory, "archived_reason") if memory.archived_at else None,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "entities": memory.entities,
        "tags": memory.tags,
        "fact_key": memory.fact_key,
        "namespace": memory.namespace,
        "scope": memory.scope,
        "user_id": memory.user_id,
        "agent_id": memory.agent_id,
        "session_id": memory.session_id,
        "task_id": memory.task_id,
        "extra": memory.extra,
        "source_kind": memory.source_kind,
        "trust": memory.trust,
        "external_write_id": memory.external_write_id,
        "dedup": memory.content_hash is not None,
        "supersedes": kin.supersedes,
        "superseded_by": kin.superseded_by,
        "expires_at": memory.expires_at,
        "event_at": memory.event_at,
        "is_protected": memory.is_protected,
        "is_summarized": memory.is_summarized,
        "summarized_from": list(kin.summarized_from),
        "index_state": memory.index_state,
        "version": memory.version,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "last_accessed_at": memory.last_accessed_at,
        "last_confirmed_at": memory.last_confirmed_at,
        "access_count": memory.access_count,
    }
