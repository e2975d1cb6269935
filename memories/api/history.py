"""The ledger of what changed the store (MIG-12)."""

from __future__ import annotations

import datetime as dt
from typing import TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router
from pydantic import Field

from memories.api.requests import ApiRequest
from memories.models import Job, MigrationRecord
from memories.rules.datamigrations import DataMigration
from memories.rules.limits import LABEL_MAX
from memories.search import history
from memories.services import migrating
from memoryhub.lib.answers import json_answer
from memoryhub.lib.strict import StrictModel

router = Router()


class MigrationStart(StrictModel):
    """What to move the vault's data to; ``target`` names the embedding space for `reembed`, else the configured one."""

    kind: DataMigration
    target: str | None = Field(None, min_length=1, max_length=LABEL_MAX)


class MigrationOut(TypedDict):
    """One change of the store, by a migration or by a data job, whose id is there while the job is."""

    id: UUID
    job_id: UUID | None
    kind: str
    app: str
    version: str
    description: str
    state: str
    rows_done: int
    rows_total: int | None
    error: str
    started_at: dt.datetime
    finished_at: dt.datetime | None
    duration_ms: float | None


class MigrationList(TypedDict):
    """Newest first."""

    items: list[MigrationOut]


def migration_out(record: MigrationRecord, job: Job | None) -> MigrationOut:
    """One entry of the ledger."""
    return {
        "id": record.pk,
        "job_id": job.pk if job else None,
        "kind": record.kind,
        "app": record.app,
        "version": record.name,
        "description": record.description,
        "state": record.state,
        "rows_done": record.rows_done,
        "rows_total": record.rows_total,
        "error": record.error,
        "started_at": record.started_at,
        "finished_at": record.finished_at,
        "duration_ms": record.duration_ms,
    }


@router.get("/migrations", response=MigrationList)
def list_migrations(request: ApiRequest) -> HttpResponse:
    """What changed the store, when, and how far it got."""
    records = history.list_migrations(request.access)
    jobs = migrating.migration_jobs(request.access, records)
    return json_answer({"items": [migration_out(record, jobs.get(record.pk)) for record in records]})


@router.post("/migrations", response={202: MigrationOut})
def start_migration(request: ApiRequest, wanted: MigrationStart) -> HttpResponse:
    """Re-embed, reseal or re-index the vault in the background; searches and writes go on."""
    record = migrating.start_migration(request.access, wanted.kind, wanted.target)
    jobs = migrating.migration_jobs(request.access, [record])
    return json_answer(migration_out(record, jobs.get(record.pk)), status=202)
