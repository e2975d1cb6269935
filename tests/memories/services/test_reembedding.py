"""A vault moves to another embedding space while it is searched and written; nothing is compared across spaces."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread

import pytest
import time_machine
from django.db import connection, transaction

from banks.access import Access
from memories.index import graphs
from memories.index.spaces import SpaceMoved, active_space, hold_space
from memories.jobs import JobKind
from memories.models import Embedding, Job, Memory, MigrationRecord, VaultSpace
from memories.rules.datamigrations import DataMigration
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import SearchQuery
from memories.rules.vocabulary import IndexState, JobState
from memories.search.recall import search_memories
from memories.services import reembedding, upkeep
from memories.services.datamigrations import note_rows
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.migrating import start_migration
from memories.services.reembedding import NoTarget, active_name
from memories.services.running import run_job
from memories.services.upkeep import READ_UNTIL
from memoryhub.lib.clock import now
from memoryhub.lib.sealing import Sealed, gate
from tests.endpoint import DIMENSIONS, EmbeddingService, configured, embedding_service
from tests.factories import make_vault, operator, remember, write
from tests.racing import together

TEXTS = ["the kettle is red", "a bicycle leans on the wall", "rain falls in spring", "the teapot is green"]
SMALLER = "wordllama/l2_supercat_128"


@pytest.fixture
def memories(access: Access) -> list[Memory]:
    """Four memories in the space the hub begins with."""
    return [remember(access, text) for text in TEXTS]


@pytest.fixture
def next_service(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingService]:
    """A remote embedder vaults are to move to, while the embedded one is still configured."""
    with embedding_service() as service:
        settings = {"NEXT_EMBEDDER": "openai", "NEXT_EMBEDDER_URL": service.url, "NEXT_EMBEDDER_MODEL": "test"}
        with configured(monkeypatch, settings | {"NEXT_EMBEDDER_ALLOW_PRIVATE": "true"}):
            yield service


def start(access: Access, target: str | None = SMALLER) -> Job:
    record = start_migration(access, DataMigration.REEMBED, target)
    return Job.objects.get(ref__migration=str(record.pk))


def dimensions_of(access: Access) -> dict[str, int]:
    """Space → how many vectors of the vault are in it."""
    rows = Embedding.objects.filter(vault=access.vault).select_related("space")
    found: dict[str, int] = {}
    for row in rows:
        assert row.space.dimensions == len(row.vector)
        name = f"{row.space.provider}/{row.space.model}"
        found[name] = found.get(name, 0) + 1
    return found


def first(access: Access, question: str) -> tuple[str, list[str]]:
    answer = search_memories(access, SearchQuery(query=question))
    return answer.hits[0].memory.content, answer.degraded


def test_the_vault_is_in_the_new_space_with_everything(access, memories):
    """DEG-13, MIG-12: filled, switched, found by meaning there; the ledger says what happened."""
    job = start(access)
    assert run_job(job.pk)
    assert str(active_name(access)) == SMALLER
    assert dimensions_of(access) == {"wordllama/l2_supercat_256": 4, SMALLER: 4}
    assert first(access, "what colour has the kettle") == (TEXTS[0], [])
    record = MigrationRecord.objects.get(vault=access.vault)
    assert (record.state, record.name, record.rows_done, record.rows_total) == ("done", SMALLER, 4, 4)
    remember(access, "written after the move")
    assert dimensions_of(access)[SMALLER] == 5


def test_the_old_vectors_go_when_nobody_can_be_reading_them(access, memories):
    """DESIGN §11: in batches, by the job that keeps the index, a minute later; the place and its index go too."""
    run_job(start(access).pk)
    job = Job.objects.get(kind=JobKind.KEEP_INDEX)
    assert job.due_at > now() + READ_UNTIL
    with time_machine.travel(job.due_at, tick=False):
        assert run_job(job.pk)
    assert dimensions_of(access) == {SMALLER: 4}
    assert VaultSpace.objects.get(vault=access.vault).is_active


def test_and_back_again(access, memories):
    """DEG-13: a space that was left and is not swept yet is taken up again as it is."""
    run_job(start(access).pk)
    late = remember(access, "only in the smaller space")
    run_job(start(access, "wordllama/l2_supercat_256").pk)
    assert str(active_name(access)) == "wordllama/l2_supercat_256"
    assert Embedding.objects.filter(memory=late).count() == 2
    assert first(access, "kettle colour")[0] == TEXTS[0]


def test_what_is_written_edited_and_erased_meanwhile_is_right_afterwards(access, memories, monkeypatch):
    """DEG-13: the tail is taken over in the commit that switches; nobody's old text leaves a vector."""
    switch = reembedding._switch

    def meanwhile(move):
        monkeypatch.setattr(reembedding, "_switch", switch)
        assert str(active_name(access)) == "wordllama/l2_supercat_256"
        update_memory(access, memories[1].pk, MemoryChanges.parse({"content": "a tricycle stands there"}))
        erase_memory(access, memories[2].pk)
        remember(access, "the lantern is yellow")
        return switch(move)

    monkeypatch.setattr(reembedding, "_switch", meanwhile)
    run_job(start(access).pk)
    assert dimensions_of(access) == {"wordllama/l2_supercat_256": 4, SMALLER: 4}
    assert first(access, "tricycle")[0] == "a tricycle stands there"
    assert first(access, "colour of the lantern")[0] == "the lantern is yellow"


def test_a_worker_that_dies_leaves_what_it_did(access, memories, monkeypatch):
    """DESIGN §7: the next attempt embeds only what is missing."""
    monkeypatch.setattr(reembedding, "LOCAL_BATCH", 1)
    job, real = start(access), note_rows

    def dies(job, more, total=None):
        real(job, more, total)
        if MigrationRecord.objects.get(vault=access.vault).rows_done == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(reembedding, "note_rows", dies)
    with pytest.raises(KeyboardInterrupt):
        run_job(job.pk)
    monkeypatch.setattr(reembedding, "note_rows", real)
    assert dimensions_of(access)[SMALLER] == 2
    assert str(active_name(access)) == "wordllama/l2_supercat_256"
    Job.objects.update(lease_until=now())
    assert run_job(job.pk)
    record = MigrationRecord.objects.get(vault=access.vault)
    assert (record.state, record.rows_done, dimensions_of(access)[SMALLER]) == ("done", 4, 4)


def test_a_cancelled_move_changes_nothing_and_goes_on_later(access, memories):
    job = start(access)
    Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED)
    run_job(job.pk)
    assert dimensions_of(access) == {"wordllama/l2_supercat_256": 4}


def test_to_a_remote_embedder_and_nobody_waits(access, memories, next_service):
    """DEG-13: the configured next embedder is the target; what comes last waits in the new space like any write."""
    switch = reembedding._switch
    job = start(access, None)
    assert MigrationRecord.objects.get(vault=access.vault).name == "openai/test"
    assert run_job(job.pk)
    assert dimensions_of(access)["openai/test"] == 4
    place = VaultSpace.objects.select_related("space").get(vault=access.vault, is_active=True)
    assert (place.space.dimensions, sorted(next_service.texts)[1:]) == (DIMENSIONS, sorted(["probe", *TEXTS])[1:])
    assert remember(access, "a late one").index_state == IndexState.PENDING
    run_job(Job.objects.get(kind=JobKind.EMBED_MEMORIES).pk)
    assert dimensions_of(access)["openai/test"] == 5
    assert switch is reembedding._switch


def test_a_remote_embedder_that_is_away_costs_nothing(access, memories, next_service):
    """DEG-01, DEG-13: the job waits, the old space answers."""
    next_service.status = 503
    job = start(access, None)
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.PENDING
    assert first(access, "kettle colour") == (TEXTS[0], [])
    next_service.status = 200
    with time_machine.travel(job.due_at, tick=False):
        run_job(job.pk)
    assert str(active_name(access)) == "openai/test"


def test_a_changed_environment_interrupts_nothing(access, memories, monkeypatch):
    """DEG-13: the vault is searched with the embedder that fits it, until it is moved."""
    with embedding_service() as service:
        settings = {"EMBEDDER": "openai", "EMBEDDER_URL": service.url, "EMBEDDER_MODEL": "test"}
        with configured(monkeypatch, settings | {"EMBEDDER_ALLOW_PRIVATE": "true"}):
            assert first(access, "kettle colour") == (TEXTS[0], [])
            remember(access, "still embedded in the write")
            assert service.texts == []
            run_job(start(access, None).pk)
            assert str(active_name(access)) == "openai/test"
            assert dimensions_of(access)["openai/test"] == 5


def test_what_does_not_open_is_named_and_holds_nobody_up(access, memories):
    """ENC-20."""
    Memory.objects.filter(pk=memories[0].pk).update(content=Sealed(b"M\x01broken"))
    run_job(start(access).pk)
    record = MigrationRecord.objects.get(vault=access.vault)
    assert (record.state, record.error) == ("done", "1 memories do not open and have no vector now.")
    assert Memory.objects.get(pk=memories[0].pk).index_state == IndexState.FAILED


@pytest.mark.parametrize("target", ["wordllama/other", "", None])
def test_a_target_there_is_not_is_refused_by_name(access, memories, target):
    """The vault is in the configured space already, so a target has to be named."""
    with pytest.raises(NoTarget, match="wordllama/l2_supercat_64"):
        start(access, target)


@pytest.mark.django_db(transaction=True)
def test_the_switch_waits_for_writers_and_the_next_write_goes_to_the_new_space():
    """DEG-13: a write that chose the old space and is not committed is taken over; one that comes after is sent on."""
    vault = make_vault("Race")
    written, go = Event(), Event()

    def slowly() -> None:
        access = operator(vault)
        with transaction.atomic():
            remember(access, "written in the old space")
            written.set()
            assert go.wait(60)

    with gate.session():
        access = operator(vault)
        remember(access, "the first")
        job = start(access)
        writer = Thread(target=lambda: together([slowly]))
        writer.start()
        assert written.wait(60)
        mover = Thread(target=lambda: together([lambda: run_job(job.pk)]))
        mover.start()
        wait_until_somebody_waits()
        stale = active_space(vault.pk)
        go.set()
        writer.join(60)
        mover.join(60)
        assert dimensions_of(access)[SMALLER] == 2
        with pytest.raises(SpaceMoved), transaction.atomic():
            assert stale is not None
            hold_space(vault.pk, stale)
        assert write(access, "the last").memory.index_state == IndexState.READY
        assert dimensions_of(access)[SMALLER] == 3
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_large_vault_has_its_index_before_it_is_switched(monkeypatch):
    """DESIGN §11: no search after the switch scans what has outgrown scanning."""
    monkeypatch.setattr(graphs, "GRAPH_FROM", 3)
    monkeypatch.setattr(reembedding, "GRAPH_FROM", 3)
    vault = make_vault("Large")
    with gate.session():
        access = operator(vault)
        for text in TEXTS:
            remember(access, text)
        run_job(start(access).pk)
        place = VaultSpace.objects.get(vault=vault, is_active=True)
        assert place.has_graph
        assert not Embedding.objects.filter(space_id=place.space_id, in_tail=True).exists()
        assert first(access, "kettle colour")[0] == TEXTS[0]
        monkeypatch.setattr(upkeep, "READ_UNTIL", -READ_UNTIL)
        run_job(start(access, "wordllama/l2_supercat_64").pk)
        Job.objects.filter(kind=JobKind.KEEP_INDEX).update(due_at=now())
        run_job(Job.objects.get(kind=JobKind.KEEP_INDEX, state=JobState.PENDING).pk)
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE 'graph_%'")
        names = [name for (name,) in cursor.fetchall()]
        assert names == [f"graph_{VaultSpace.objects.get(vault=vault).pk.hex}"]
        cursor.execute(f"DROP INDEX {names[0]}")
    connection.close()


def wait_until_somebody_waits() -> None:
    with connection.cursor() as cursor:
        for _ in range(20_000):
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
    raise AssertionError("nobody waited")
