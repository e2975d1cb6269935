"""One change of many memories (DESIGN §8)."""

from __future__ import annotations

from typing import TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router

from memories.api.changesets import ChangesetOut, changesets_out
from memories.api.requests import ApiRequest
from memories.rules.bulk import BulkChange
from memories.services import bulk
from memoryhub.lib.answers import json_answer

router = Router()


class BulkOut(TypedDict):
    """The changeset (null when nothing changed), how many changed, stayed as they were or were left alone, and why.

    With a ``job_id`` it is still being done: more than 500 memories are changed in the background.
    """

    changeset: ChangesetOut | None
    changed: int
    unchanged: int
    skipped: dict[str, str]
    missing: list[UUID]
    job_id: UUID | None


@router.post("/memories/bulk", response={200: BulkOut, 202: BulkOut})
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
