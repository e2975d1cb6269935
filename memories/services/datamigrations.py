"""The ledger of data that moves: begun with its job, moved on with every batch, ended with the last one (MIG-12)."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from banks.access import Access
from banks.services.audit import Audited, record_audit
from memories.jobs import JobKind
from memories.models import Job, MigrationRecord, VaultImport
from memories.rules.datamigrations import MigrationState
from memories.services.jobs import enqueue_job
from memories.services.ledger import DESCRIPTION_LENGTH
from memoryhub.lib.clock import now
from memoryhub.lib.constraints import violated
from memoryhub.lib.errors import Conflict


class MigrationRunning(Conflict):
    """A migration of this kind is running in this vault; wait for it, or cancel its job."""

    code = "migration_running"


def begin_migration(access: Access, kind: JobKind, name: str, description: str) -> MigrationRecord:
    """Write that data of the vault begins to move, and the job that moves it, in the running transaction.

    Raises MigrationRunning while another of its kind runs.
    """
    record = MigrationRecord(
        vault_id=access.vault_id, kind="data", app=kind.value, name=name, description=description[:DESCRIPTION_LENGTH]
    )
    running = MigrationRecord.objects.filter(vault_id=access.vault_id, app=kind.value, state=MigrationState.RUNNING)
    if running.exists():
        raise MigrationRunning
    try:
        with transaction.atomic():
            record.save(force_insert=True)
    except IntegrityError as error:
        if violated(error) != "migrationrecord_one_running":
            raise
        raise MigrationRunning from None
    enqueue_job(access.vault_id, kind, {"migration": str(record.pk)}, dedupe_key=str(record.pk))
    record_audit(access, Audited("start_migration", "migration", record.pk))
    return record


def note_rows(job: Job, more: int, total: int | None = None) -> None:
    """Add to the rows the job's migration has moved, in the transaction that moved them."""
    changed: dict[str, Any] = {"rows_done": F("rows_done") + more}
    if total is not None:
        changed["rows_total"] = F("rows_done") + total
    _of(job).update(**changed)


def end_migration(job: Job, error: str = "") -> None:
    """The job's migration is done, in the transaction of its last effect; ``error`` says what was left."""
    for record in _of(job):
        record.state, record.error, record.finished_at = MigrationState.DONE.value, error, now()
        record.duration_ms = round((record.finished_at - record.started_at).total_seconds() * 1000, 1)
        record.rows_total = record.rows_done
        record.save(update_fields=["state", "error", "finished_at", "duration_ms", "rows_total"])


def _of(job: Job) -> QuerySet[MigrationRecord]:
    return MigrationRecord.objects.filter(vault_id=job.vault_id, pk=job.ref.get("migration"))


def record_import(owner: VaultImport) -> None:
    """Write an import that has ended into the ledger, in the running transaction; one that changed nothing is not."""
    if owner.changeset_id is None:
        return
    memories = owner.made.get("memory", {})
    told = ", ".join(f"{count} {fate.replace('_', ' ')}" for fate, count in sorted(memories.items())) or "none"
    ended = owner.finished_at or now()
    MigrationRecord.objects.create(
        vault_id=owner.vault_id,
        kind="data",
        app=JobKind.IMPORT_VAULT.value,
        name=owner.kind,
        description=f"A file of {owner.kind}; memories: {told}."[:DESCRIPTION_LENGTH],
        state=(MigrationState.FAILED if owner.error else MigrationState.DONE).value,
        error=owner.error,
        rows_done=sum(memories.values()),
        rows_total=owner.lines,
        started_at=owner.created_at,
        finished_at=ended,
        duration_ms=round((ended - owner.created_at).total_seconds() * 1000, 1),
    )


def record_master_key(active: int, wrapped: int) -> None:
    """Write into the ledger that another master key wraps the store's data keys; of the store, of no vault."""
    at = now()
    about = "Every vault's data keys are wrapped by this master key."
    MigrationRecord.objects.create(
        kind="data",
        app="rotate_master_key",
        name=f"master key {active}",
        description=about,
        state=MigrationState.DONE.value,
        rows_done=wrapped,
        rows_total=wrapped,
        started_at=at,
        finished_at=at,
    )
