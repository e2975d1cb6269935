"""Changesets: what was changed as one, by whom, and taking it back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router
from pydantic import Field, with_config

from banks.access import KeyScope
from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memories_out
from memories.models import Changeset
from memories.rules import limits
from memories.rules.undoing import AT_ONCE, Refusal
from memories.rules.vocabulary import ActorKind, ChangesetState
from memories.services import changesets, undoing
from memories.services.undoing import ChangesetGrowing, ChangesetUndone, UndoExpired
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.sealing import opened
from memoryhub.lib.strict import StrictModel

router = Router()


class PageOfChangesets(StrictModel):
    """Which part of the list."""

    limit: Annotated[int, Field(ge=1, le=limits.PAGE_MAX)] = 50
    cursor: str | None = None


class ItemFilter(PageOfChangesets):
    """Which of its memories: all, or those an undo left as they are with one code."""

    refused: Annotated[str, Field(max_length=30)] | None = None


class UndoWanted(StrictModel):
    """Which of its memories to take back; without any, all of them."""

    model_config = shown({"memory_ids": ["01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b17"]})

    memory_ids: Annotated[list[UUID], Field(min_length=1, max_length=AT_ONCE)] | None = None


_SHOWN: Mapping[str, Any] = {
    "action": "bulk_add_tags",
    "state": "applied",
    "reason": "The sprint is over.",
    "actor_kind": "key",
    "actor_id": "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b19",
    "count": 120,
    "undoable_until": "2026-12-21T10:15:00Z",
}


@with_config(shown(_SHOWN))
class ChangesetOut(TypedDict):
    """What one action changed as one; ``state`` is applied, partial or undone."""

    id: UUID
    action: str
    state: Annotated[str, Word(ChangesetState)]
    reason: str | None
    actor_kind: Annotated[str, Word(ActorKind)]
    actor_id: str
    count: int
    created_at: dt.datetime
    undone_at: dt.datetime | None
    undoable_until: dt.datetime


@with_config(shown({"version_before": 6, "version_after": 7}))
class ItemOut(TypedDict):
    """A memory as it is now, its versions around the change (0: it was created), and what an undo did to it."""

    memory: MemoryOut
    version_before: int
    version_after: int
    undone_at: dt.datetime | None
    refused: Annotated[str, Word(Refusal)] | None


@with_config(shown({**_SHOWN, "counts": {"standing": 120}}))
class ChangesetDetail(ChangesetOut):
    """The same with a page of its memories; ``counts`` says how many stand, were undone or refused, by code."""

    counts: dict[str, int]
    items: list[ItemOut]
    next_cursor: str | None


class ChangesetList(TypedDict):
    """Newest first; ``next_cursor`` is null at the end."""

    items: list[ChangesetOut]
    next_cursor: str | None


@with_config(shown({"undone": 118}))
class UndoneOut(TypedDict):
    """How many memories are as before, which were edited since, which could not go back and why.

    With a ``job_id`` it is still being done: more than 500 memories are taken back in the background.
    """

    undone: int
    changed_since: list[UUID]
    blocked: dict[str, Annotated[str, Word(Refusal)]]
    job_id: UUID | None


def changesets_out(request: ApiRequest, found: Sequence[Changeset]) -> list[ChangesetOut]:
    """Several changesets."""
    until = changesets.undoable_until(request.access, found)
    return [
        {
            "id": one.pk,
            "action": one.action,
            "state": one.state,
            "reason": opened(one, "reason"),
            "actor_kind": one.actor_kind,
            "actor_id": one.actor_id,
            "count": one.count,
            "created_at": one.created_at,
            "undone_at": one.undone_at,
            "undoable_until": until[one.pk],
        }
        for one in found
    ]


@router.get("/changesets", response=ChangesetList, **told("List changesets", KeyScope.MEMORIES_READ))
def list_changesets(request: ApiRequest, wanted: Query[PageOfChangesets]) -> HttpResponse:
    """What was changed as one, newest first."""
    page = changesets.list_changesets(request.access, wanted.limit, wanted.cursor)
    return json_answer({"items": changesets_out(request, page.items), "next_cursor": page.next_cursor})


@router.get(
    "/changesets/{changeset_id}",
    response=ChangesetDetail,
    **told("Read a changeset and its memories", KeyScope.MEMORIES_READ),
)
def get_changeset(request: ApiRequest, changeset_id: str, wanted: Query[ItemFilter]) -> HttpResponse:
    """One changeset with a page of the memories it changed."""
    access = request.access
    changeset = changesets.get_changeset(access, changeset_id)
    page = changesets.list_items(access, changeset.pk, wanted.refused, wanted.limit, wanted.cursor)
    shown = memories_out(access, [item.memory for item in page.items], compact=True)
    items: list[ItemOut] = [
        {
            "memory": memory,
            "version_before": item.version_before,
            "version_after": item.version_after,
            "undone_at": item.undone_at,
            "refused": item.refused or None,
        }
        for item, memory in zip(page.items, shown, strict=True)
    ]
    counts = changesets.count_items(access, changeset)
    about = changesets_out(request, [changeset])[0]
    return json_answer({**about, "counts": counts, "items": items, "next_cursor": page.next_cursor})


@router.post(
    "/changesets/{changeset_id}/undo",
    response={200: UndoneOut, 202: UndoneOut},
    **told("Undo a changeset", KeyScope.MEMORIES_WRITE, ChangesetUndone, ChangesetGrowing, UndoExpired),
)
def undo_changeset(
    request: ApiRequest,
    changeset_id: str,
    wanted: UndoWanted = UndoWanted(),  # noqa: B008
) -> HttpResponse:
    """Make its memories what they were before; what was edited since is listed and left alone."""
    report = undoing.undo_changeset(request.access, changeset_id, wanted.memory_ids)
    body: UndoneOut = {
        "undone": report.undone,
        "changed_since": report.changed_since,
        "blocked": {str(memory_id): code.value for memory_id, code in report.blocked.items()},
        "job_id": report.job.pk if report.job else None,
    }
    return json_answer(body, status=202 if report.job else 200)
