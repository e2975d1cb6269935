"""A job belongs to the process that works on it as long as that lives; one killed with -9 is followed by another."""

from __future__ import annotations

import datetime as dt
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import psycopg
import pytest
import time_machine
from django.db import connection, transaction

from memories.index import graphs
from memories.jobs import JobKind
from memories.models import Embedding, Job, VaultSpace
from memories.rules.datamigrations import DataMigration
from memories.rules.filters import SearchQuery
from memories.rules.progress import LEASE
from memories.rules.vocabulary import JobState
from memories.search.recall import search_memories
from memories.services import leasing
from memories.services.jobs import claim_job, enqueue_job, finish_job, hold_job, renew_lease
from memories.services.migrating import start_migration
from memories.services.running import run_job
from memoryhub.lib.clock import now
from tests.factories import make_vault, operator, remember

pytestmark = pytest.mark.django_db(transaction=True)
#: Longer than any machine needs.
PATIENCE = dt.timedelta(seconds=120)
OFTEN = dt.timedelta(seconds=0.05)
TEXTS = [f"The {thing} stands in the {place}." for thing in ("kettle", "boat", "lamp") for place in ("shed", "yard")]


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[VaultSpace]:
    """A vault that has outgrown exact scans."""
    monkeypatch.setattr(graphs, "GRAPH_FROM", 3)
    access = operator(make_vault("Outgrown"))
    for text in TEXTS:
        remember(access, text)
    yield VaultSpace.objects.get(vault_id=access.vault_id)
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE 'graph_%'")
        for (name,) in cursor.fetchall():
            cursor.execute(f"DROP INDEX {name}")
    connection.close()


def keeping(place: VaultSpace) -> Job:
    enqueue_job(place.vault_id, JobKind.KEEP_INDEX, dedupe_key="keep")
    return Job.objects.get(vault_id=place.vault_id, state=JobState.PENDING)


@contextmanager
def holding(mode: str) -> Iterator[None]:
    """Somebody else holds the table of vectors in this mode, in a transaction that does not end."""
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}"
    with psycopg.connect(url) as other:
        other.execute(f"LOCK TABLE memories_embedding IN {mode} MODE")
        yield
        other.rollback()


def until[T](ask: Callable[[], T]) -> T:
    """Wait for a condition."""
    started = now()
    with connection.cursor() as cursor:
        while not (found := ask()):
            assert now() - started < PATIENCE, "it never came true"
            cursor.execute("SELECT pg_sleep(0.02)")
    return found


def builders() -> list[tuple[int, int]]:
    """Who builds which index on the server: its process and the index's number."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid, index_relid FROM pg_stat_progress_create_index WHERE index_relid > 0")
        return list(cursor.fetchall())


def index_of(place: VaultSpace) -> tuple[int, bool]:
    """Number and validity of the vault's vector index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexrelid, indisvalid FROM pg_index WHERE indexrelid = %s::regclass", [f"graph_{place.pk.hex}"]
        )
        ((number, is_valid),) = cursor.fetchall()
    return number, is_valid


def lease_of(job: Job) -> dt.datetime:
    lease = Job.objects.get(pk=job.pk).lease_until
    assert lease is not None
    return lease


def is_renewed(job: Job, before: dt.datetime) -> bool:
    """Whether its lease lasts longer than it did."""
    return lease_of(job) > before


@contextmanager
def worker(job: Job, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """A process of its own that runs the job, and what kills it with -9."""
    monkeypatch.setattr(leasing, "RENEWED_EVERY", OFTEN)
    connection.close()
    child = os.fork()
    if child == 0:
        try:
            run_job(job.pk)
        finally:
            os._exit(0)
    alive = [True]

    def kill() -> None:
        if alive:
            alive.clear()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    try:
        yield kill
    finally:
        kill()


def test_one_long_step_keeps_its_job(place: VaultSpace, monkeypatch: pytest.MonkeyPatch):
    """DESIGN §7: who works gives signs of life, also while the server is asked one thing and does not answer."""
    job = keeping(place)
    with holding("ROW EXCLUSIVE"), worker(job, monkeypatch):
        until(builders)
        for _ in range(2):
            before = lease_of(job)
            until(partial(is_renewed, job, before))
        assert claim_job(job.pk) is None
        assert Job.objects.get(pk=job.pk).seen_at is not None
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.RUNNING, 1)


@pytest.mark.parametrize("server_goes_on", [True, False], ids=["the server goes on", "the server gave up as well"])
def test_a_worker_killed_while_it_builds_is_followed(
    place: VaultSpace, server_goes_on: bool, monkeypatch: pytest.MonkeyPatch
):
    """R3: within a lease; what the server finished is used, what it did not finish is built anew, nothing is left."""
    job = keeping(place)
    with holding("ROW EXCLUSIVE"), worker(job, monkeypatch) as kill:
        ((process, unfinished),) = until(builders)
        kill()
        assert lease_of(job) - now() <= LEASE <= dt.timedelta(seconds=45)
        late = remember(operator(place.vault), "The kettle stands in the hall.")
        with time_machine.travel(lease_of(job) + dt.timedelta(seconds=1)):
            assert run_job(job.pk)
            job.refresh_from_db()
            # Its attempt does not count: it only found the server busy with what the dead one asked for.
            assert (job.state, job.attempts) == (JobState.PENDING, 1)
            assert not VaultSpace.objects.get(pk=place.pk).has_graph
        if not server_goes_on:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(%s)", [process])
            until(lambda: not builders())
    until(lambda: not builders())
    assert index_of(place) == (unfinished, server_goes_on)
    with time_machine.travel(now() + dt.timedelta(minutes=2)):
        assert run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts, job.error) == (JobState.DONE, 2, "")
    number, is_valid = index_of(place)
    assert is_valid
    assert (number == unfinished) is server_goes_on
    assert VaultSpace.objects.get(pk=place.pk).has_graph
    found = search_memories(operator(place.vault), SearchQuery(query="kettle in the hall", threshold=0.0))
    assert found.hits[0].memory.pk == late.pk
    assert Embedding.objects.filter(vault_id=place.vault_id).count() == len(TEXTS) + 1


@pytest.mark.parametrize("moves", [False, True], ids=["keeping the index", "moving to another space"])
def test_who_finds_a_build_of_somebody_else_comes_back(place: VaultSpace, moves: bool):
    """Two builds on the table at once end with one of them broken off: the later one waits, and has not failed."""
    if moves:
        record = start_migration(operator(place.vault), DataMigration.REEMBED, "wordllama/l2_supercat_128")
        job = Job.objects.get(ref__migration=str(record.pk))
    else:
        job = keeping(place)
    with holding("SHARE UPDATE EXCLUSIVE"):
        assert run_job(job.pk)
        with pytest.raises(graphs.GraphsBusy):
            graphs.drop_graph(place)
    job.refresh_from_db()
    assert (job.state, job.stage, job.attempts) == (JobState.PENDING, "deferred", 0)
    with time_machine.travel(now() + dt.timedelta(minutes=1)):
        assert run_job(job.pk)
    there = VaultSpace.objects.get(vault_id=place.vault_id, is_active=True)
    assert there.has_graph
    assert index_of(there)[1]


def test_only_the_attempt_that_holds_the_job_renews_it(place: VaultSpace):
    """R3: a worker that was away too long does not keep its successor's job alive."""
    job = claim_job(keeping(place).pk)
    assert job is not None
    Job.objects.filter(pk=job.pk).update(lease_until=now())
    assert renew_lease(job.pk, job.attempts)
    assert lease_of(job) > now()
    assert not renew_lease(job.pk, job.attempts - 1)
    with transaction.atomic():
        finish_job(job)
    assert not renew_lease(job.pk, job.attempts)
    assert Job.objects.get(pk=job.pk).lease_until is None


def test_a_commit_that_holds_the_job_is_not_waited_for(place: VaultSpace):
    """A sign of life that waits for the work's own transaction could hold up its end."""
    job = claim_job(keeping(place).pk)
    assert job is not None
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}"
    with psycopg.connect(url) as other:
        other.execute("SELECT 1 FROM memories_job WHERE id = %s FOR UPDATE", [job.pk])
        assert not renew_lease(job.pk, job.attempts)
        other.rollback()
    with transaction.atomic():
        hold_job(job)
    assert renew_lease(job.pk, job.attempts)
