"""Facts and memory banks at the addresses and in the words of VoxBridge's plan (BNK-09…11, API-01…04)."""

from __future__ import annotations

import datetime as dt
from typing import TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router

from banks.services import banks
from memories.api.requests import ApiRequest
from memories.models import Memory
from memories.rules.factforms import FactChanges, FactDraft, FactFilter, share_of
from memories.rules.vocabulary import Outcome
from memories.search import listing
from memories.services import editing, writing
from memoryhub.lib.answers import json_answer
from memoryhub.lib.sealing import opened

router = Router()


class FactOut(TypedDict):
    """One fact; ``importance`` is a float from 0.2 to 1.0."""

    id: UUID
    fact_text: str | None
    fact_key: str | None
    importance: float
    memory_bank: str
    user_id: str | None
    agent_id: str | None
    is_protected: bool
    is_summarized: bool
    summarized_from: list[UUID] | None
    last_accessed_at: dt.datetime | None
    created_at: dt.datetime
    updated_at: dt.datetime


class MemoryBankOut(TypedDict):
    """One bank facts may be put into."""

    name: str
    description: str
    is_default: bool


def fact_out(memory: Memory) -> FactOut:
    """A memory as a fact."""
    return {
        "id": memory.pk,
        "fact_text": opened(memory, "content"),
        "fact_key": memory.fact_key,
        "importance": share_of(memory.importance),
        "memory_bank": memory.bank.name,
        "user_id": memory.user_id,
        "agent_id": memory.agent_id,
        "is_protected": memory.is_protected,
        "is_summarized": memory.is_summarized,
        "summarized_from": memory.summarized_from or None,
        "last_accessed_at": memory.last_accessed_at,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }


@router.post("/facts", response={201: FactOut, 200: FactOut})
def write_fact(request: ApiRequest, fact: FactDraft) -> HttpResponse:
    """Write one fact; 200 when it was there already."""
    result = writing.write_memory(request.access, fact.draft())
    is_new = result.outcome in {Outcome.CREATED, Outcome.SUPERSEDED}
    return json_answer(fact_out(result.memory), 201 if is_new else 200)


@router.get("/facts", response=list[FactOut])
def list_facts(request: ApiRequest, wanted: Query[FactFilter]) -> HttpResponse:
    """The facts, newest first; `bank=Personal` only those of that bank."""
    page = listing.list_memories(request.access, wanted.filters(), limit=wanted.limit)
    return json_answer([fact_out(memory) for memory in page.items])


@router.put("/facts/{fact_id}", response=FactOut)
def update_fact(request: ApiRequest, fact_id: str, changes: FactChanges) -> HttpResponse:
    """Change what is given, the bank too."""
    return json_answer(fact_out(editing.update_memory(request.access, fact_id, changes.changes())))


@router.get("/memory-banks", response=list[MemoryBankOut])
def list_memory_banks(request: ApiRequest) -> HttpResponse:
    """The banks there are, the default first."""
    found = banks.list_banks(request.access)
    return json_answer(
        [{"name": bank.name, "description": bank.description, "is_default": bank.is_default} for bank in found]
    )
