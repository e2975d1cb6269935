"""The ledger of what changed the store (MIG-12)."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router
from pydantic import Field, with_config

from banks.access import KeyScope, WholeVaultNeeded
from memories.api.requests import ApiRequest
from memories.models import Job, MigrationRecord
from memories.rules.datamigrations import DataMigration, MigrationState
from memories.rules.limits import LABEL_MAX
from memories.search import history
from memories.services import migrating
from memories.services.datamigrations import MigrationRunning
from memories.services.reembedding import NoTarget
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.strict import StrictModel

router = Router()


class MigrationStart(StrictModel):
    """What to move the vault's data to; ``target`` names the embedding space for `reembed`, else the configured one."""

    model_config = shown({"kind": "reindex"})

    kind: DataMigration
    target: str | None = Field(None, min_length=1, max_length=LABEL_MAX)


@with_config(
    shown(
        {
            "kind": "data",
            "app": "memories",
            "version": "reindex",
            "description": "Build the word index anew",
            "state": "running",
            "rows_done": 1200,
            "rows_total": 4000,
        }
    )
)
class MigrationOut(TypedDict):
    """One change of the store, by a migration or by a data job, whose id is there while the job is."""

    id: UUID
    job_id: UUID | None
    kind: str
    app: str
    version: str
    description: str
    state: Annotated[str, Word(MigrationState)]
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


@router.get("/migrations", response=MigrationList, **told("List migrations", KeyScope.OPS_READ))
def list_migrations(request: ApiRequest) -> HttpResponse:
    """What changed the store, when, and how far it got."""
    records = history.list_migrations(request.access)
    jobs = migrating.migration_jobs(request.access, records)
    return json_answer({"items": [migration_out(record, jobs.get(record.pk)) for record in records]})


@router.post(
    "/migrations",
    response={202: MigrationOut},
    **told("Start a migration of the data", KeyScope.OPS_WRITE, MigrationRunning, NoTarget, WholeVaultNeeded),
)
def start_migration(request: ApiRequest, wanted: MigrationStart) -> HttpResponse:
    """Re-embed, reseal or re-index the vault in the background; searches and writes go on."""
    record = migrating.start_migration(request.access, wanted.kind, wanted.target)
    jobs = migrating.migration_jobs(request.access, [record])
    return json_answer(migration_out(record, jobs.get(record.pk)), status=202)
