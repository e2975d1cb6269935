"""One change of many memories (DESIGN §8)."""

from __future__ import annotations

from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router
from pydantic import with_config

from banks.access import KeyScope
from banks.services.banks import UnknownBank
from memories.api.changesets import ChangesetOut, changesets_out
from memories.api.requests import ApiRequest
from memories.rules.bulk import BulkChange, Skip
from memories.services import bulk
from memories.services.bulk import SelectionChanged
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told

router = Router()


@with_config(
    shown(
        {
            "changeset": {
                "id": "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b1c",
                "action": "bulk_add_tags",
                "state": "applied",
                "reason": "The sprint is over.",
                "actor_kind": "key",
                "actor_id": "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b19",
                "count": 119,
                "created_at": "2026-11-21T10:15:00Z",
                "undone_at": None,
                "undoable_until": "2026-12-21T10:15:00Z",
            },
            "changed": 119,
            "unchanged": 0,
            "skipped": {"01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b17": "too_many_tags"},
            "missing": [],
        }
    )
)
class BulkOut(TypedDict):
    """The changeset (null when nothing changed), how many changed, stayed as they were or were left alone, and why.

    With a ``job_id`` it is still being done: more than 500 memories are changed in the background.
    """

    changeset: ChangesetOut | None
    changed: int
    unchanged: int
    skipped: dict[str, Annotated[str, Word(Skip)]]
    missing: list[UUID]
    job_id: UUID | None


@router.post(
    "/memories/bulk",
    response={200: BulkOut, 202: BulkOut},
    **told("Change many memories at once", KeyScope.MEMORIES_WRITE, SelectionChanged, UnknownBank),
)
def bulk_change(request: ApiRequest, wanted: BulkChange) -> HttpResponse:
    """Archive, restore, review, move, tag, weigh or protect `ids`, or all that match `query`, as one changeset."""
    report = bulk.bulk_change(request.access, wanted)
    body: BulkOut = {
        "changeset": changesets_out(request, [report.changeset])[0] if report.changeset else None,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "skipped": {str(memory_id): why.value for memory_id, why in report.skipped.items()},
        "missing": report.missing,
        "job_id": report.job.pk if report.job else None,
    }
    return json_answer(body, status=202 if report.job else 200)
