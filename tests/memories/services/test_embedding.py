"""Embedding by job: a remote embedder that is slow, away or wrong costs neither a memory nor a vector."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

import pytest
import time_machine
from django.db import connection, transaction

from banks.access import Access
from banks.models import SettingValue
from memories.models import Embedding, EmbeddingSpace, Job, Memory, VaultSpace
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import SearchQuery
from memories.rules.retries import MAX_ATTEMPTS
from memories.rules.settings import Level
from memories.rules.vocabulary import IndexState, JobState
from memories.search.recall import search_memories
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.jobs import cancel_job, retry_job
from memories.services.running import run_job
from memories.services.settings import write_setting
from memories.services.writing import write_batch
from memories.tasks import sweep_jobs
from memoryhub.lib.clock import now
from memoryhub.lib.sealing import Sealed
from tests.endpoint import EmbeddingService, embedding_service, embedding_with
from tests.factories import draft, make_vault, operator, remember
from tests.racing import together


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingService]:
    """A remote embedder, configured as an operator would."""
    with embedding_service() as service, embedding_with(monkeypatch, service):
        yield service


def the_job() -> Job:
    return Job.objects.get(state__in=[JobState.PENDING, JobState.RUNNING])


def states() -> list[str]:
    return list(Memory.objects.order_by("id").values_list("index_state", flat=True))


def test_a_write_does_not_wait_for_a_remote_embedder(access, remote):
    """DEG-03, ENC-11: the memory is there and found by its words; the vector comes by one job for them all."""
    remote.hold()
    memories = [remember(access, f"zeppelin number {n}") for n in range(3)]
    assert remote.texts == []
    assert states() == ["pending"] * 3
    assert Job.objects.count() == 1
    remote.go.set()
    assert run_job(the_job().pk)
    assert states() == ["ready"] * 3
    assert Embedding.objects.count() == 3
    job = Job.objects.get()
    assert (job.state, job.done, job.total, job.attempts) == (JobState.DONE, 3, 3, 1)
    assert sorted(remote.texts) == sorted(memory.content for memory in memories)


def test_search_goes_on_from_words_while_the_service_is_away(access, remote):
    """DEG-01: `degraded` says so; nothing is lost, nothing fails."""
    memory = remember(access, "the zeppelin is in Oslo")
    remote.status = 500
    answer = search_memories(access, SearchQuery(query="zeppelin"))
    assert ([hit.memory.pk for hit in answer.hits], answer.degraded) == ([memory.pk], ["embeddings"])
    remote.status = 200
    run_job(the_job().pk)
    answer = search_memories(access, SearchQuery(query="the zeppelin is in Oslo"))
    assert answer.degraded == []
    assert answer.hits[0].legs["semantic"].score == pytest.approx(1.0, abs=1e-3)


def test_a_service_that_is_away_for_long_defers_the_job(access, remote):
    """GRD-13, DEF-07, DEG-12: the guard's pause is not the job's failure; after it one probe, and all is done."""
    remember(access)
    remote.status = 503
    job, start = the_job(), now()
    with time_machine.travel(start, tick=False) as clock:
        for _ in range(MAX_ATTEMPTS):
            Job.objects.update(due_at=now())
            assert run_job(job.pk)
        for _ in range(2 * MAX_ATTEMPTS):  # longer than any number of attempts
            job.refresh_from_db()
            assert (job.state, job.stage, states()) == (JobState.PENDING, "deferred", [IndexState.PENDING])
            assert not run_job(job.pk)
            clock.move_to(job.due_at)
            asked = len(remote.texts)
            assert run_job(job.pk)
            assert len(remote.texts) == asked + 1
        remote.status = 200
        job.refresh_from_db()
        clock.move_to(job.due_at)
        assert run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, states()) == (JobState.DONE, [IndexState.READY])


def test_without_the_guard_it_ends_in_failed_and_can_be_retried(access, remote):
    """MOD-42, DEG-12: five attempts, then visible; a person's retry embeds what failed."""
    write_setting(access, Level.VAULT, "enable_error_guard", False)
    remember(access)
    remote.status = 503
    job = the_job()
    for _ in range(MAX_ATTEMPTS):
        Job.objects.update(due_at=now())
        assert run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, states()) == (JobState.DEAD, [IndexState.FAILED])
    assert "503" in job.error
    sweep_jobs()
    assert Job.objects.count() == 1
    remote.status = 200
    retry_job(access, job.pk)
    assert run_job(job.pk)
    assert states() == ["ready"]


def test_a_wrong_configuration_is_dead_at_once(access, remote):
    """R9: asking again cannot help."""
    remember(access)
    remote.status = 401
    run_job(the_job().pk)
    assert (Job.objects.get().state, states()) == (JobState.DEAD, ["failed"])


def test_another_embedders_space_is_never_filled(access, remote):
    """DEG-13: vectors of different spaces are not mixed; the job says what to configure."""
    other = EmbeddingSpace.objects.create(provider="openai", model="another", dimensions=3)
    VaultSpace.objects.create(vault=access.vault, space=other)
    memory = remember(access, "a zeppelin")
    run_job(the_job().pk)
    assert (Job.objects.get().state, Embedding.objects.count(), remote.texts) == (JobState.DEAD, 0, [])
    answer = search_memories(access, SearchQuery(query="zeppelin"))
    assert ([hit.memory.pk for hit in answer.hits], answer.degraded) == ([memory.pk], ["embeddings"])


def test_one_broken_row_does_not_stop_the_others(access, remote):
    """ENC-20: it is marked as failed, the rest is embedded."""
    memories = [remember(access, f"number {n}") for n in range(3)]
    Memory.objects.filter(pk=memories[1].pk).update(content=Sealed(b"M\x01broken"))
    run_job(the_job().pk)
    assert states() == ["ready", "failed", "ready"]
    assert (Job.objects.get().state, Embedding.objects.count()) == (JobState.DONE, 2)


def test_many_are_embedded_in_batches(access, remote):
    """DESIGN §7: progress is reported, texts are asked for once each."""
    write_batch(access, [draft(f"memory number {n}") for n in range(150)])
    run_job(the_job().pk)
    assert set(states()) == {"ready"}
    assert len(remote.texts) == len(set(remote.texts)) == 150
    assert Embedding.objects.count() == 150


def test_a_vault_without_vectors_asks_nobody(access, remote):
    """CFG-01: the switch is obeyed by writes and by search, which says so."""
    SettingValue.objects.create(vault=access.vault, level="vault", key="embeddings", value=False)
    memory = remember(access, "a zeppelin")
    answer = search_memories(access, SearchQuery(query="zeppelin"))
    assert (states(), Job.objects.count(), remote.texts) == (["off"], 0, [])
    assert [hit.memory.pk for hit in answer.hits] == [memory.pk]


@pytest.fixture
def racing() -> Access:
    return operator(make_vault("Race"))


def in_the_middle(remote: EmbeddingService, job: Job) -> Thread:
    """A worker that has asked the service and waits for its answer."""
    remote.hold()
    worker = Thread(target=lambda: together([lambda: run_job(job.pk)]))
    worker.start()
    assert remote.asked.acquire(timeout=120)
    return worker


def finish(remote: EmbeddingService, worker: Thread) -> None:
    remote.go.set()
    worker.join(30)
    assert not worker.is_alive()


@pytest.mark.django_db(transaction=True)
def test_of_two_attempts_only_the_later_commits(racing, remote):
    """R3: the first one's lease ran out while it waited; its vectors are thrown away, nothing is there twice."""
    for n in range(3):
        remember(racing, f"memory {n}")
    job = the_job()
    worker = in_the_middle(remote, job)
    Job.objects.update(lease_until=now())
    assert run_job(job.pk)
    finish(remote, worker)
    job.refresh_from_db()
    assert (job.state, job.attempts, job.done) == (JobState.DONE, 2, 3)
    assert (Embedding.objects.count(), states()) == (3, ["ready"] * 3)


@pytest.mark.django_db(transaction=True)
def test_what_was_edited_or_erased_meanwhile_gets_no_old_vector(racing, remote):
    """MOD-46: the answer belongs to a text that is not there any more."""
    edited, erased, untouched = (remember(racing, text) for text in ("one", "two", "three"))
    worker = in_the_middle(remote, the_job())
    update_memory(racing, edited.pk, MemoryChanges.parse({"content": "ONE, edited"}))
    erase_memory(racing, erased.pk)
    finish(remote, worker)
    assert list(Embedding.objects.values_list("memory_id", flat=True)) == [untouched.pk]
    sweep_jobs()
    assert set(Embedding.objects.values_list("memory_id", flat=True)) == {untouched.pk, edited.pk}
    assert remote.texts.count("ONE, edited") == 1
    assert set(states()) == {"ready"}


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_job_leaves_no_vector(racing, remote):
    """DESIGN §7: the running attempt's commit is refused."""
    remember(racing)
    job = the_job()
    worker = in_the_middle(remote, job)
    cancel_job(racing, job.pk)
    finish(remote, worker)
    sweep_jobs()
    assert (Job.objects.get().state, Embedding.objects.count()) == (JobState.CANCELLED, 0)
    remember(racing, "another")
    sweep_jobs()
    assert Embedding.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_write_that_counted_on_a_job_already_taken_is_not_forgotten(racing, remote):
    """DEG-14: the job was claimed and done before the write committed; the sweep sees that somebody waits."""
    remember(racing, "first")
    job = the_job()
    with transaction.atomic():
        remember(racing, "second")
        assert Job.objects.count() == 1, "the write relies on the job that waits"
        assert together([lambda: run_job(job.pk)]) == [True]
    assert states() == ["ready", "pending"]
    sweep_jobs()
    assert states() == ["ready", "ready"]
    sweep_jobs()
    assert Job.objects.count() == 2
    connection.close()
