"""The ledger of what changed the store; schema migrations are mirrored here as they run (MIG-12)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from memories.models import MigrationRecord

DESCRIPTION_LENGTH = 500


@dataclass(frozen=True, slots=True)
class AppliedMigration:
    """One migration of Django's that just ran; times are Unix seconds."""

    app: str
    name: str
    description: str
    began: float
    ended: float


def record_migrations(applied: Sequence[AppliedMigration]) -> None:
    """Write down what was applied, and what an earlier run applied without being able to say so; once each."""
    if MigrationRecord._meta.db_table not in connection.introspection.table_names():
        return
    known = {(item.app, item.name) for item in applied}
    missed = [row for row in MigrationRecorder.Migration.objects.all() if (row.app, row.name) not in known]
    rows = [_row(item) for item in applied] + [
        MigrationRecord(
            kind="schema", app=row.app, name=row.name, state="done", started_at=row.applied, finished_at=row.applied
        )
        for row in missed
    ]
    MigrationRecord.objects.bulk_create(rows, ignore_conflicts=True)


def _row(item: AppliedMigration) -> MigrationRecord:
    return MigrationRecord(
        kind="schema",
        app=item.app,
        name=item.name,
        description=item.description[:DESCRIPTION_LENGTH],
        state="done",
        started_at=dt.datetime.fromtimestamp(item.began, dt.UTC),
        finished_at=dt.datetime.fromtimestamp(item.ended, dt.UTC),
        duration_ms=round((item.ended - item.began) * 1000, 1),
    )
