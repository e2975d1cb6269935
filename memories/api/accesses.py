"""Who was given a memory (PRN-07)."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router
from pydantic import Field, with_config

from banks.access import Access, KeyScope
from memories.api.requests import ApiRequest
from memories.models import MemoryAccess
from memories.rules import limits
from memories.rules.vocabulary import AccessPurpose, ActorKind
from memories.search import accesses
from memoryhub.lib.answers import json_answer
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.strict import StrictModel

router = Router()


@with_config(
    shown(
        {
            "purpose": "search",
            "query": "What does Alice drink?",
            "rank": 1,
            "score": 0.83,
            "actor_kind": "key",
            "actor_id": "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b19",
            "agent_id": "Scribe",
        }
    )
)
class AccessOut(TypedDict):
    """One time the memory was given out; ``query`` is null for reads, and for questions the caller may not know."""

    lookup_id: UUID
    at: dt.datetime
    purpose: Annotated[str, Word(AccessPurpose)]
    query: str | None
    rank: int | None
    score: float | None
    actor_kind: Annotated[str, Word(ActorKind)]
    actor_id: str
    agent_id: str | None


class AccessList(TypedDict):
    """Newest first; the cursor is null at the end."""

    items: list[AccessOut]
    next_cursor: str | None


class AccessPaging(StrictModel):
    """Which part of the log."""

    limit: Annotated[int, Field(ge=1, le=limits.PAGE_MAX)] = 50
    cursor: str | None = None


def access_out(access: Access, entry: MemoryAccess) -> AccessOut:
    """One entry."""
    lookup = entry.lookup
    return {
        "lookup_id": lookup.pk,
        "at": lookup.at,
        "purpose": lookup.purpose,
        "query": _question(access, entry),
        "rank": entry.rank,
        "score": entry.score,
        "actor_kind": lookup.actor_kind,
        "actor_id": lookup.actor_id,
        "agent_id": lookup.agent_id,
    }


def _question(access: Access, entry: MemoryAccess) -> str | None:
    try:
        return accesses.question_of(access, entry)
    except (DecryptionError, UnknownKey):
        return None


@router.get(
    "/memories/{memory_id}/accesses", response=AccessList, **told("List who was given a memory", KeyScope.MEMORIES_READ)
)
def list_accesses(request: ApiRequest, memory_id: str, page: Query[AccessPaging]) -> HttpResponse:
    """When it was given to whom, at which rank and for what question, newest first.

    Written a moment after the answer it tells of; the setting `access_log_days` says how long it is kept.
    """
    found = accesses.list_accesses(request.access, memory_id, page.limit, page.cursor)
    items = [access_out(request.access, entry) for entry in found.items]
    return json_answer({"items": items, "next_cursor": found.next_cursor})
