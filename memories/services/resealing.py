"""Seal everything of a vault under its newest data key, then retire the older ones (ENC-18, MIG-12).

Starting adds the key: from that commit on every new access seals with it, and the older ones still open. Rows follow in
batches, each a commit of its own; a worker that dies loses none and repeats none, because a row says itself under which
key it is. A key goes only when, with nobody writing under it, no envelope in any table names it any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from banks.access import Access
from banks.access.keyring import add_next_data_key
from banks.models import VaultKey
from banks.services.audit import Audited, record_audit
from banks.services.sealguard import guard_sealed_tables
from memories.jobs import JobKind
from memories.models import Job, MigrationRecord
from memories.rules.datamigrations import next_data_key
from memories.services.contention import despite_deadlocks
from memories.services.datamigrations import begin_migration, end_migration, note_rows
from memories.services.jobs import finish_job, hold_job, report_progress
from memoryhub.lib.crypto import ROOTS_VERSION, VaultKeys
from memoryhub.lib.errors import Conflict
from memoryhub.lib.resealing import SealedTable, StaleRow, sealed_tables
from memoryhub.lib.sealing import gate

BATCH = 1_000
FIRST = UUID(int=0)
#: Whoever still writes with an older key is met again; a request does not last this many rounds.
ROUNDS = 20


class KeyInUse(Conflict):
    """Something goes on writing under the old data key; it is kept, and the reseal can be started again."""

    code = "key_in_use"


def start_reseal(access: Access) -> MigrationRecord:
    """Give the vault its next data key, or take up again what an earlier reseal left; in the running transaction.

    Raises MigrationRunning.
    """
    versions = list(VaultKey.objects.filter(vault_id=access.vault_id).values_list("version", flat=True))
    newest = next_data_key(versions, ROOTS_VERSION)
    name = f"data key {newest or max(versions)}"
    about = "Everything sealed in this vault is sealed anew under its newest data key; the older keys then go."
    record = begin_migration(access, JobKind.RESEAL_MEMORIES, name, about)
    if newest is not None:
        add_next_data_key(access.vault)
    return record


def reseal_memories(access: Access, job: Job) -> int:
    """Reseal every table of the vault and finish the job; how many rows. Raises JobLost, KeyInUse."""
    guard_sealed_tables()
    keys, tables = gate.renew(access.vault_id), sealed_tables(access.vault_id)
    total = sum(table.count(keys.active) for table in tables)
    report_progress(job, 0, total, "resealing")
    note_rows(job, 0, total)
    done = 0
    for _ in range(ROUNDS):
        broken = 0
        for table in tables:
            rows = table.stale_rows(keys.active, FIRST, BATCH)
            while rows:
                moved, unreadable = _reseal_rows(access, job, table, rows)
                done, broken = done + moved, broken + unreadable
                total = max(total, done)
                report_progress(job, done, total, f"resealing {table.model._meta.verbose_name_plural}")
                rows = table.stale_rows(keys.active, rows[-1].pk, BATCH)
        if _retire(access, job, keys, broken):
            return done
    raise KeyInUse


@despite_deadlocks
def _reseal_rows(access: Access, job: Job, table: SealedTable, rows: Sequence[StaleRow]) -> tuple[int, int]:
    """Reseal a batch in one commit; how many rows were, and how many cannot be opened."""
    keys = gate.keys_for(access.vault_id)
    pairs = [(old, new) for old in rows if (new := table.resealed(keys, old)) is not None]
    with transaction.atomic():
        hold_job(job)
        moved = table.replace([old for old, _ in pairs], [new for _, new in pairs]) if pairs else 0
        note_rows(job, moved)
    return moved, len(rows) - len(pairs)


def _retire(access: Access, job: Job, keys: VaultKeys, broken: int) -> bool:
    """Delete the keys that no envelope names, unless something was written under one meanwhile; whether all is done.

    What does not open keeps the key it names: it may be mended, from a backup or by hand.
    """
    tables = sealed_tables(access.vault_id)
    with transaction.atomic():
        hold_job(job)
        older = VaultKey.objects.filter(vault_id=access.vault_id).exclude(version__in=[ROOTS_VERSION, keys.active])
        # Waits for everybody who has written under one of them, and keeps others from doing so until we are through.
        held = {row.version: row for row in older.select_for_update()}
        if sum(table.count(keys.active) for table in tables) > broken:
            return False
        named = {version for table in tables for version in table.versions()} if broken else set()
        VaultKey.objects.filter(pk__in=[row.pk for version, row in held.items() if version not in named]).delete()
        finish_job(job)
        end_migration(job, f"{broken} rows do not open; the key they name is kept." if broken else "")
        record_audit(access, Audited("reseal_memories", "vault", access.vault_id, min(held, default=None), keys.active))
    return True
