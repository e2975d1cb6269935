"""Celery's door with a real broker and a real worker, which is killed in the middle; and with no broker at all."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pytest
from celery import current_app
from django.conf import settings
from django.db import connection

from banks.access import Access
from memories import tasks
from memories.models import Embedding, Job, Memory
from memories.rules.vocabulary import JobState
from memories.services.embedding import BATCH
from memories.services.writing import write_batch
from memories.tasks import sweep_jobs
from memoryhub.lib.clock import now
from memoryhub.lib.kick import RUN_JOB
from memoryhub.local.datadir import DataDir
from tests.brokers import kicks_to, valkey
from tests.endpoint import EmbeddingService, embedding_service, embedding_with
from tests.factories import draft, make_vault, operator, write

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
PATIENCE = 300.0
COUNT = BATCH * 4


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingService]:
    """A remote embedder, so that vectors are made by jobs; workers inherit its configuration."""
    with embedding_service() as service, embedding_with(monkeypatch, service):
        yield service


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[DataDir]:
    """A real Valkey."""
    with valkey(tmp_path / "hub") as datadir, kicks_to(datadir.broker_url):
        yield datadir


@pytest.fixture
def access() -> Access:
    return operator(make_vault("Worked for"))


@contextmanager
def worker(broker: DataDir, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A prefork worker on the test's database, in a process group of its own; killed at the end."""
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}"
    environment = {**os.environ, "DATABASE_URL": url, "BROKER_URL": broker.broker_url, "MEMORYHUB_PROCESS": "worker"}
    words = ["-m", "celery", "-A", "memoryhub.celery", "worker", "--pool", "prefork", "--concurrency", "1"]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=settings.BASE_DIR,
            env=environment,
            stdout=output,
            stderr=output,
            process_group=0,
        )
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill -9, the worker and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)


def until(condition: Callable[[], bool], log: Path | None = None) -> None:
    """Wait for a condition; fails after five minutes, with what the worker had to say."""
    deadline = time.monotonic() + PATIENCE
    with connection.cursor() as cursor:
        while not condition():
            assert time.monotonic() < deadline, log.read_text()[-3_000:] if log else "waited in vain"
            cursor.execute("SELECT pg_sleep(0.05)")


def is_done() -> bool:
    return Job.objects.filter(state=JobState.DONE).exists()


def test_a_worker_killed_in_the_middle_loses_nothing_and_does_nothing_twice(access, remote, broker, tmp_path):
    """R3, DESIGN §7: what was committed stays, what was not is done by the next worker; one vector each."""
    log = tmp_path / "worker.log"
    remote.hold(after=2)
    write_batch(access, [draft(f"memory number {n}") for n in range(COUNT)])
    with worker(broker, log) as first:
        until(lambda: remote.asked.acquire(blocking=False), log)
        kill(first)
    job = Job.objects.get()
    assert (job.state, job.attempts, job.done) == (JobState.RUNNING, 1, 2 * BATCH)
    assert Memory.objects.filter(index_state="ready").count() == Embedding.objects.count() == 2 * BATCH
    before = set(Embedding.objects.values_list("pk", flat=True))

    remote.go.set()
    Job.objects.update(lease_until=now())
    with worker(broker, log):
        current_app.send_task(tasks.sweep_jobs.name)
        until(is_done, log)
    job.refresh_from_db()
    assert (job.attempts, job.error) == (2, "")
    assert Memory.objects.filter(index_state="ready").count() == COUNT
    assert Embedding.objects.count() == Embedding.objects.values("memory").distinct().count() == COUNT
    assert before <= set(Embedding.objects.values_list("pk", flat=True)), "finished work was done again"
    asked = [text for text in remote.texts if text.startswith("memory")]
    assert len(asked) <= COUNT + BATCH


def test_a_kick_reaches_the_worker(access, remote, broker, tmp_path):
    """DESIGN §7: nobody waits for the sweeper; a kick twice, or for a job that is not there, does no harm."""
    log = tmp_path / "worker.log"
    with worker(broker, log):
        memory = write(access, "a zeppelin").memory
        until(is_done, log)
        done = Job.objects.get()
        for job_id in (done.pk, done.pk, memory.pk):
            current_app.send_task(RUN_JOB, args=[str(job_id)])
        write(access, "a submarine")
        until(lambda: Job.objects.filter(state=JobState.DONE).count() == 2, log)
    assert Job.objects.count() == Memory.objects.filter(index_state="ready").count() == 2
    assert list(Job.objects.values_list("attempts", flat=True)) == [1, 1]
    assert Embedding.objects.count() == 2
    assert "zeppelin" not in log.read_text()


@contextmanager
def black_hole() -> Iterator[str]:
    """A broker that takes connections and never says a word, the worst way of being away."""
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        path = Path(folder, "away.sock")
        listener.bind(str(path))
        listener.listen(64)
        yield f"redis+socket://{path}?virtual_host=0"


@contextmanager
def nobody() -> Iterator[str]:
    """A broker that is not there."""
    with TemporaryDirectory() as folder:
        yield f"redis+socket://{Path(folder, 'none.sock')}?virtual_host=0"


def seconds_for_writes(access: Access, name: str, count: int = 30) -> float:
    """The median time of a write."""
    times = []
    for n in range(count):
        started = time.perf_counter()
        write(access, f"{name} {n}")
        times.append(time.perf_counter() - started)
    return median(times)


@pytest.mark.parametrize("away", [nobody, black_hole])
def test_without_a_broker_writes_go_on_and_the_sweep_catches_up(access, remote, broker, away):
    """DEG-14: at most 1.5 times as slow (the best of three rounds counts, the machine is shared), nothing lost."""
    ratios = []
    for number in range(3):
        with kicks_to(broker.broker_url):
            normal = seconds_for_writes(access, f"normal {number}")
        with away() as url, kicks_to(url):
            ratios.append(seconds_for_writes(access, f"away {number}") / normal)
        if ratios[-1] <= 1.5:
            break
    assert min(ratios) <= 1.5, ratios
    assert set(Memory.objects.values_list("index_state", flat=True)) == {"pending"}
    sweep_jobs()
    assert set(Memory.objects.values_list("index_state", flat=True)) == {"ready"}
    assert Embedding.objects.count() == Memory.objects.count()
