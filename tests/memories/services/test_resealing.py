"""A new data key reaches every sealed value while the vault is read and written, and the old one goes only then."""

from __future__ import annotations

import time
from threading import Thread
from typing import Any

import pytest
from django.db import connection, transaction

from banks.access import Access
from banks.models import AuditEntry, VaultKey
from memories.models import Job, Memory, MigrationRecord
from memories.rules.datamigrations import DataMigration, MigrationState
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import SearchQuery
from memories.rules.vocabulary import JobState
from memories.search.recall import search_memories
from memories.services import resealing
from memories.services.datamigrations import MigrationRunning
from memories.services.editing import update_memory
from memories.services.idempotency import StoredAnswer, with_idempotency
from memories.services.jobs import cancel_job, retry_job
from memories.services.lifecycle import archive_memory
from memories.services.migrating import start_migration
from memories.services.running import run_job
from memoryhub.lib.resealing import SealedTable, sealed_tables
from memoryhub.lib.sealing import Sealed, gate
from tests.factories import converse, make_vault, operator, remember
from tests.racing import together

CONTENT = "the kettle is red"


@pytest.fixture
def lived_in(access: Access) -> Memory:
    """A vault with something in many sealed tables."""
    memory = remember(access, "the kettle is blue")
    update_memory(access, memory.pk, MemoryChanges.parse({"content": CONTENT, "reason": "painted"}))
    archive_memory(access, remember(access, "the kettle leaks").pk, reason="mended")
    converse(access, "tuesday", "My name is Ada.")
    with_idempotency(access, "key", b"print", lambda: StoredAnswer(201, {"content": CONTENT}))
    return memory


def start(access: Access) -> Job:
    """A reseal, asked for as an operator would."""
    record = start_migration(access, DataMigration.RESEAL)
    return Job.objects.get(ref__migration=str(record.pk))


def versions(access: Access) -> set[int]:
    return {version for table in sealed_tables(access.vault_id) for version in table.versions()}


def tables_in_use(access: Access) -> list[SealedTable]:
    return [table for table in sealed_tables(access.vault_id) if table.versions()]


def key_versions(access: Access) -> list[int]:
    return list(VaultKey.objects.filter(vault=access.vault).order_by("version").values_list("version", flat=True))


def found(access: Access, question: str = "kettle red") -> list[str]:
    return [str(hit.memory.content) for hit in search_memories(access, SearchQuery(query=question)).hits]


def test_everything_is_under_the_new_key_and_the_old_one_is_gone(access, lived_in):
    """ENC-18, MIG-12: every sealed column of every table; what hangs on the first key is still derivable."""
    before = operator(access.vault).keys
    job = start(access)
    assert run_job(job.pk)
    assert (versions(access), key_versions(access)) == ({2}, [0, 2])
    fresh = operator(access.vault)
    assert (fresh.keys.index, fresh.keys.dedup, fresh.keys.audit) == (before.index, before.dedup, before.audit)
    assert Memory.objects.get(pk=lived_in.pk).content == CONTENT
    assert found(fresh)[0] == CONTENT
    record = MigrationRecord.objects.get(vault=access.vault)
    assert (record.state, record.name, record.app) == ("done", "data key 2", "reseal_memories")
    assert record.rows_done == record.rows_total and record.rows_done > 5
    assert AuditEntry.objects.filter(action="reseal_memories", version_before=1, version_after=2).count() == 1


def test_a_second_rotation_keeps_the_roots(access, lived_in):
    """ENC-18: keys after keys; the same text is still recognised as a duplicate."""
    for _ in range(2):
        run_job(start(access).pk)
    assert key_versions(access) == [0, 3]
    assert remember(operator(access.vault), CONTENT).pk == lived_in.pk


def test_both_keys_open_while_it_runs(access, lived_in):
    """MIG-12: a session that began before the key was there opens what was sealed under it since."""
    with gate.session():
        early = operator(access.vault)
        with gate.session():
            start(access)
            late = remember(operator(access.vault), "the teapot is green")
        assert versions(access) == {1, 2}
        assert found(early, "teapot green") == ["the teapot is green"]
        assert Memory.objects.get(pk=late.pk).content == "the teapot is green"


def test_only_one_at_a_time(access, lived_in):
    start(access)
    with pytest.raises(MigrationRunning):
        start(access)
    assert key_versions(access) == [0, 1, 2]


def test_what_was_broken_off_goes_on_with_the_same_key(access, lived_in, monkeypatch):
    """MIG-12, DESIGN §7: killed in the middle, claimed again: nothing twice, nothing left; cancel and retry too."""
    monkeypatch.setattr(resealing, "BATCH", 1)
    job = start(access)
    replace, calls = SealedTable.replace, []

    def dies(table, old, new):
        calls.append(table)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return replace(table, old, new)

    monkeypatch.setattr(SealedTable, "replace", dies)
    with pytest.raises(KeyboardInterrupt):
        run_job(job.pk)
    record = MigrationRecord.objects.get(vault=access.vault)
    assert (record.rows_done, record.state, versions(access)) == (3, MigrationState.RUNNING, {1, 2})
    cancel_job(access, job.pk)
    record.refresh_from_db()
    assert record.state == MigrationState.CANCELLED
    retry_job(access, job.pk)
    assert run_job(job.pk)
    record.refresh_from_db()
    assert (record.state, versions(access), key_versions(access)) == ("done", {2}, [0, 2])
    assert record.rows_done == record.rows_total
    rows = sum(table.model._default_manager.filter(vault=access.vault).count() for table in tables_in_use(access))
    assert record.rows_done == rows


def test_what_does_not_open_keeps_its_key(access, lived_in):
    """ENC-20: a damaged value is left as it is and named; the rest moves on."""
    broken = remember(access, "the damaged one")
    stored: Any = Memory.objects.values_list("content", flat=True).get(pk=broken.pk)
    raw = bytearray(stored.data)
    raw[-1] ^= 1
    Memory.objects.filter(pk=broken.pk).update(content=Sealed(bytes(raw)))
    run_job(start(access).pk)
    record = MigrationRecord.objects.get(vault=access.vault)
    assert (key_versions(access), versions(access)) == ([0, 1, 2], {1, 2})
    assert (record.state, record.error) == ("done", "1 rows do not open; the key they name is kept.")


@pytest.mark.django_db(transaction=True)
def test_nobody_writes_under_a_retired_key():
    """ENC-18: a write that began with the old key and ends after it went is sealed again; reads go on all the time."""
    vault = make_vault("Race")
    first = remember(operator(vault), CONTENT)

    with gate.session():
        early = operator(vault)  # a connection and keys of its own, from before the rotation
        assert together([lambda: run_job(start(operator(vault)).pk)]) == [True]
        assert key_versions(early) == [0, 2]
        late = remember(early, "written by somebody who knew only the old key")
        archive_memory(early, first.pk, reason="the same for other verbs")
    with gate.session():
        access = operator(vault)
        assert versions(access) == {2}
        assert Memory.objects.get(pk=late.pk).content.startswith("written by somebody")
        assert Memory.objects.get(pk=first.pk).archived_reason == "the same for other verbs"
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_write_in_the_middle_of_retiring_is_waited_for():
    """ENC-18: written under the old key and not committed when the reseal wants to retire it: the key waits for it."""
    vault = make_vault("Race")
    with gate.session():
        early = operator(vault)
        together([lambda: start(operator(vault))])
        worker = Thread(target=lambda: together([lambda: run_job(Job.objects.get().pk)]))
        with transaction.atomic():
            memory = remember(early, "still under the first key")
            worker.start()
            wait_until_somebody_waits()
            assert versions(early) == {1}
        worker.join(30)
        assert (versions(early), key_versions(early)) == ({2}, [0, 2])
    with gate.session():
        operator(vault)
        assert Memory.objects.get(pk=memory.pk).content == "still under the first key"
    connection.close()


def wait_until_somebody_waits() -> None:
    """Until another transaction wants what this one has locked."""
    deadline = time.monotonic() + 120
    with connection.cursor() as cursor:
        while time.monotonic() < deadline:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
    raise AssertionError("nobody waited")


def test_the_job_is_done_only_with_its_effect(access, lived_in):
    """DESIGN §7: a cancelled attempt commits nothing more."""
    job = start(access)
    Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED)
    run_job(job.pk)
    assert versions(access) == {1}
