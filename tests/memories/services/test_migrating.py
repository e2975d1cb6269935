"""While a vault's data moves, searches find what is there; a worker killed with -9 is followed by another."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from threading import Condition, Event, Thread

import pytest
from django.db import connection

from banks.models import Vault, VaultKey
from memories.models import Job, Memory, MigrationRecord
from memories.rules.datamigrations import DataMigration
from memories.rules.filters import SearchQuery
from memories.search.recall import search_memories
from memories.services import reembedding, reindexing, resealing
from memories.services.migrating import start_migration
from memories.services.reembedding import active_name
from memories.services.running import run_job
from memories.services.writing import write_batch
from memoryhub.lib.clock import now
from memoryhub.lib.resealing import sealed_tables
from memoryhub.lib.sealing import gate
from tests.factories import draft, make_vault, operator
from tests.racing import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

COLOURS = ["red", "green", "blue", "yellow", "white"]
THINGS = ["kettle", "bicycle", "lantern", "door", "boat", "kite", "teapot", "fence"]
QUESTIONS = [f"which colour has the {thing}" for thing in THINGS]
SMALLER = "wordllama/l2_supercat_128"
MOVES = {DataMigration.RESEAL: None, DataMigration.REEMBED: SMALLER, DataMigration.REINDEX: None}
#: Seconds in which eight questions are answered on any machine.
SOON = 60
#: Two rows, or memories, a commit: long enough a way to be met on.
STEPS = ((resealing, "BATCH"), (reembedding, "LOCAL_BATCH"), (reindexing, "BATCH"))

type NoteRows = Callable[[Job, int, int | None], None]


@pytest.fixture
def vault(transactional_db: None) -> Vault:
    """Forty memories that share their words, so that what is found depends on all of the index."""
    made = make_vault("Busy")
    with gate.session():
        texts = [f"the {thing} of the {colour} house is {colour}" for thing in THINGS for colour in COLOURS]
        write_batch(operator(made), [draft(text, dedup=False) for text in texts])
    return made


def begin(vault: Vault, kind: DataMigration) -> Job:
    with gate.session():
        record = start_migration(operator(vault), kind, MOVES[kind])
    return Job.objects.get(ref__migration=str(record.pk))


def answers(vault: Vault) -> list[list[tuple[str, str]]]:
    """What each question finds, opened: ids and texts in their order."""
    with gate.session():
        access = operator(vault)
        found = [search_memories(access, SearchQuery(query=question, threshold=0.0)) for question in QUESTIONS]
        assert not any(answer.degraded or answer.unreadable for answer in found)
        return [[(str(hit.memory.pk), str(hit.memory.content)) for hit in answer.hits] for answer in found]


@pytest.mark.parametrize("kind", list(MOVES), ids=str)
def test_who_searches_all_the_time_notices_nothing(vault: Vault, kind: DataMigration, monkeypatch: pytest.MonkeyPatch):
    """DEG-13, MIG-12: each answer is the one from before or, after the switch, the one from after; none is degraded."""
    for module, name in STEPS:
        monkeypatch.setattr(module, name, 2)
    before, job, over, one_more = answers(vault), begin(vault, kind), Event(), Condition()
    seen: list[list[list[tuple[str, str]]]] = []
    failures: list[object] = []

    def search() -> None:
        while not over.is_set():
            found = answers(vault)
            with one_more:
                seen.append(found)
                one_more.notify_all()

    def met() -> None:
        """The second to end from here on began from here on: it met what the batches before this one had left."""
        with one_more:
            enough = len(seen) + 2
            assert one_more.wait_for(lambda: len(seen) >= enough, SOON), f"nobody searched any more: {failures}"

    before_each_commit(monkeypatch.setattr, met)
    searcher = Thread(target=lambda: failures.extend(one for one in together([search]) if one is not None))
    searcher.start()
    try:
        assert run_job(job.pk)
    finally:
        over.set()
        searcher.join(SOON)
    after = answers(vault)
    assert failures == []
    assert len(seen) >= len(THINGS) * len(COLOURS)
    for found in seen:
        for place, answer in enumerate(found):
            assert answer in (before[place], after[place])
    if kind is not DataMigration.REEMBED:
        assert after == before
    connection.close()


def before_each_commit(replace: Callable[[object, str, object], None], call: Callable[[], None]) -> None:
    """Called with each batch that is written and not yet committed, whichever way the data moves."""
    for module in (resealing, reembedding, reindexing):

        def note(job: Job, more: int, total: int | None = None, real: NoteRows = module.note_rows) -> None:
            real(job, more, total)
            if more:
                call()

        replace(module, "note_rows", note)


def killed_after(commits: int) -> Callable[[], None]:
    """Called at each commit of a step: the process kills itself with -9 at this one."""
    left = [commits]

    def count() -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    return count


def work_until_killed(job: Job) -> None:
    """A worker in a process of its own, killed in the middle of its third batch, before that commits."""
    connection.close()
    child = os.fork()
    if child == 0:
        before_each_commit(setattr, killed_after(3))
        try:
            run_job(job.pk)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGKILL


@pytest.mark.parametrize("kind", list(MOVES), ids=str)
def test_what_a_killed_worker_left_is_finished(vault: Vault, kind: DataMigration, monkeypatch: pytest.MonkeyPatch):
    """DESIGN §7, MIG-12: what was committed stays, what was not is done once; searches are right in between."""
    for module, name in STEPS:
        monkeypatch.setattr(module, name, 2)
    before, job = answers(vault), begin(vault, kind)
    work_until_killed(job)
    record = MigrationRecord.objects.get(vault=vault)
    assert (record.state, record.rows_done) == ("running", 4)
    assert answers(vault) == before
    Job.objects.update(lease_until=now())
    assert run_job(job.pk)
    record.refresh_from_db()
    assert (record.state, record.error) == ("done", "")
    assert Memory.objects.filter(vault=vault).count() == len(THINGS) * len(COLOURS)
    with gate.session():
        access = operator(vault)
        if kind is DataMigration.RESEAL:
            assert {version for table in sealed_tables(vault.pk) for version in table.versions()} == {2}
            assert set(VaultKey.objects.filter(vault=vault).values_list("version", flat=True)) == {0, 2}
        if kind is DataMigration.REEMBED:
            assert str(active_name(access)) == SMALLER
    connection.close()
