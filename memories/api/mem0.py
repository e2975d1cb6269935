"""mem0's REST in front of the hub's services, for programs written for its open-source server or its client.

Each is at the server's address and at the one mem0's own client asks. Nothing is erased here: DELETE
archives.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import Any, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router

from banks.access import Access
from memories.api.requests import ApiRequest
from memories.models import Memory
from memories.rules.mem0filters import IDS
from memories.rules.mem0words import (
    EVENTS,
    KINDS,
    AddMemories,
    Kept,
    ListMemories,
    Paging,
    SearchMemories,
    UpdateMemory,
    Whose,
    history_of,
    role_word,
)
from memories.rules.vocabulary import AccessPurpose
from memories.search import listing, reading, recall
from memories.search.listing import MemoryPage
from memories.search.numbered import list_numbered
from memories.search.subjects import list_subjects
from memories.services.accesses import record_accesses
from memories.services.compatibility import change_told, delete_all_told, delete_told, require_mem0, write_turns
from memoryhub.lib.answers import json_answer
from memoryhub.lib.errors import NotFound
from memoryhub.lib.sealing import opened

router = Router()


class Mem0Memory(TypedDict):
    """A memory as mem0 writes it."""

    id: UUID
    memory: str | None
    hash: str
    metadata: dict[str, Any]
    categories: list[str]
    user_id: str | None
    agent_id: str | None
    run_id: str | None
    expiration_date: dt.date | None
    created_at: dt.datetime
    updated_at: dt.datetime


def _allowed(request: ApiRequest) -> Access:
    require_mem0(request.access)
    return request.access


def _out(memory: Memory) -> Mem0Memory:
    text = opened(memory, "content")
    return {
        "id": memory.pk,
        "memory": text,
        "hash": hashlib.md5((text or "").encode(), usedforsecurity=False).hexdigest(),
        "metadata": memory.extra,
        "categories": memory.tags,
        "user_id": memory.user_id,
        "agent_id": memory.agent_id,
        "run_id": memory.session_id,
        "expiration_date": memory.expires_at and memory.expires_at.date(),
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }


@router.get("/v1/ping/")
def mem0_ping(request: ApiRequest) -> HttpResponse:
    """What mem0's client asks before anything else; it does not begin without ids of both."""
    vault_id = _allowed(request).vault_id
    return json_answer({"status": "ok", "org_id": vault_id, "project_id": vault_id, "user_email": None})


@router.post("/memories")
@router.post("/v3/memories/add/")
def mem0_add(request: ApiRequest, body: AddMemories) -> HttpResponse:
    """Remember what was said; each turn is a memory, and what is here already is not written twice."""
    access = _allowed(request)
    told = [
        {"id": one.memory.pk, "memory": opened(one.memory, "content"), "event": EVENTS.get(one.outcome, "NONE")}
        for one in write_turns(access, body.drafts())
    ]
    return json_answer({"results": told})


@router.get("/memories")
def mem0_list(request: ApiRequest, wanted: Query[ListMemories]) -> HttpResponse:
    """The memories of a user, an agent or a run, newest first."""
    page = listing.list_memories(_allowed(request), wanted.wanted(), limit=wanted.most)
    return json_answer(_listed(page, None, None))


@router.post("/v3/memories/")
def mem0_get_all(request: ApiRequest, wanted: ListMemories, paging: Query[Paging]) -> HttpResponse:
    """The same, with the ids in ``filters``, page by page."""
    access, size = _allowed(request), paging.size(wanted.most)
    page = list_numbered(access, wanted.wanted(), paging.page, size)

    def at(number: int) -> str:
        return request.build_absolute_uri(f"{request.path}?page={number}&page_size={size}")

    after = at(paging.page + 1) if page.next_cursor else None
    return json_answer(_listed(page, after, at(paging.page - 1) if paging.page > 1 else None))


def _listed(page: MemoryPage, after: str | None, before: str | None) -> dict[str, Any]:
    results = [_out(memory) for memory in page.items]
    return {"count": page.total, "next": after, "previous": before, "results": results}


@router.post("/search")
@router.post("/v3/memories/search/")
def mem0_search(request: ApiRequest, body: SearchMemories) -> HttpResponse:
    """What answers a question, best first, each with its score."""
    access, question = _allowed(request), body.question()
    hits = recall.search_memories(access, question).hits
    record_accesses(access, [hit.memory.pk for hit in hits], AccessPurpose.SEARCH, question.query)
    # The same order between 0 and 1, which is where mem0's scores lie.
    return json_answer({"results": [{**_out(hit.memory), "score": hit.score / (1 + hit.score)} for hit in hits]})


@router.get("/memories/{memory_id}")
@router.get("/v1/memories/{memory_id}/")
def mem0_get(request: ApiRequest, memory_id: str) -> HttpResponse:
    """One memory; 404 for one that was deleted, which is archived here."""
    access = _allowed(request)
    memory = reading.get_memory(access, memory_id)
    if memory.archived_at is not None:
        raise NotFound
    record_accesses(access, [memory.pk], AccessPurpose.READ)
    return json_answer(_out(memory))


@router.put("/memories/{memory_id}")
@router.put("/v1/memories/{memory_id}/")
def mem0_update(request: ApiRequest, memory_id: str, body: UpdateMemory) -> HttpResponse:
    """Another text, metadata laid over what there was, or another day until which it holds."""
    memory = change_told(_allowed(request), memory_id, body)
    return json_answer({"message": "Memory updated successfully!", **_out(memory)})


@router.delete("/memories/{memory_id}")
@router.delete("/v1/memories/{memory_id}/")
def mem0_delete(request: ApiRequest, memory_id: str) -> HttpResponse:
    """Archive it: hidden from every answer, and a person can bring it back."""
    delete_told(_allowed(request), memory_id)
    return json_answer({"message": "Memory deleted successfully!"})


@router.delete("/memories")
@router.delete("/v1/memories/")
def mem0_delete_all(request: ApiRequest) -> HttpResponse:
    """Archive all of one user, one agent or one run: one changeset, which a person can undo."""
    access = _allowed(request)
    # Read as it came: ninja would pass over what Whose refuses, and take the last of several.
    given = {name: values[0] if len(values) == 1 else values for name, values in request.GET.lists()}
    return _deleted(access, Whose.parse(given))


@router.delete("/entities/{kind}/{name}")
@router.delete("/v2/entities/{kind}/{name}/")
def mem0_delete_entity(request: ApiRequest, kind: str, name: str) -> HttpResponse:
    """The same, by the name alone."""
    access = _allowed(request)
    if kind not in KINDS:
        raise NotFound(f"There is no such kind; there are {', '.join(KINDS)}.")
    return _deleted(access, Whose.parse({KINDS[kind]: name}))


def _deleted(access: Access, whose: Whose) -> HttpResponse:
    report = delete_all_told(access, whose.everything())
    stays = f" {len(report.skipped)} protected ones stay." if report.skipped else ""
    return json_answer({"message": f"All relevant memories {'are being ' if report.job else ''}deleted.{stays}"})


@router.get("/entities")
def mem0_entities(request: ApiRequest) -> HttpResponse:
    """Whom memories are about: users, agents and runs."""
    return json_answer(_entities(_allowed(request)))


@router.get("/v1/entities/")
def mem0_users(request: ApiRequest) -> HttpResponse:
    """The same as mem0's client reads it."""
    return json_answer({"results": _entities(_allowed(request))})


def _entities(access: Access) -> list[dict[str, Any]]:
    found = list_subjects(access, [IDS[theirs] for theirs in KINDS.values()])
    return [
        {
            "id": one.id,
            "name": one.id,
            "type": kind,
            "total_memories": one.memories,
            "created_at": one.created_at,
            "updated_at": one.updated_at,
        }
        for kind, theirs in KINDS.items()
        for one in found[IDS[theirs]]
    ]


@router.get("/memories/{memory_id}/history")
@router.get("/v1/memories/{memory_id}/history/")
def mem0_history(request: ApiRequest, memory_id: str) -> HttpResponse:
    """What became of it: added, updated, deleted."""
    access = _allowed(request)
    memory = reading.get_memory(access, memory_id)
    revisions = reversed(reading.list_revisions(access, memory))
    kept = [Kept(one.version, one.changed, opened(one, "before") or {}, one.created_at) for one in revisions]
    turns = history_of(kept, opened(memory, "content"), memory.created_at)
    return json_answer(
        [
            {
                "id": f"{memory.pk}:{turn.version}",
                "memory_id": memory.pk,
                "old_memory": turn.old,
                "new_memory": turn.new,
                "event": turn.event,
                "created_at": memory.created_at,
                "updated_at": turn.at,
                "is_deleted": turn.event == "DELETE",
                "actor_id": None,
                "role": role_word(memory.role),
            }
            for turn in turns
        ]
    )
