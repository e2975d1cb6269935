"""The ledger of what changed the store (MIG-12)."""

from __future__ import annotations

import datetime as dt
from typing import TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router

from memories.api.requests import ApiRequest
from memories.models import MigrationRecord
from memories.search import history
from memoryhub.lib.answers import json_answer

router = Router()


class MigrationOut(TypedDict):
    """One change of the store, by a migration or by a data job."""

    id: UUID
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


def migration_out(record: MigrationRecord) -> MigrationOut:
    """One entry of the ledger."""
    return {
        "id": record.pk,
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
    return json_answer({"items": [migration_out(record) for record in history.list_migrations(request.access)]})
