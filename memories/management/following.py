"""A data migration from a terminal: started, done here in the foreground with a bar, or left to the workers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import connection
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from banks.access import Door, system_access
from banks.models import Vault
from banks.services.vaults import find_vault
from memories.models import Job, MigrationRecord
from memories.rules.vocabulary import JobState
from memories.services.migrating import migration_jobs, start_migration
from memories.services.running import run_job
from memoryhub.lib.clock import now
from memoryhub.lib.sealing import gate

if TYPE_CHECKING:
    from memories.rules.datamigrations import DataMigration

LOOK_EVERY = 0.2
TELL_EVERY = 10.0
ENDED = {JobState.DONE, JobState.DEAD, JobState.CANCELLED}


def chosen_vaults(name: str | None) -> list[Vault]:
    """The vault named, or all of them. Raises NotFound naming the vaults there are."""
    return list(Vault.objects.order_by("created_at")) if name is None else [find_vault(name)]


def move(vault: Vault, kind: DataMigration, target: str | None, *, background: bool) -> MigrationRecord:
    """Start the migration and, unless it is left to the workers, do it here; its entry in the ledger.

    Raises MigrationRunning, NoTarget.
    """
    with gate.session():
        access = system_access(vault.pk, f"{kind}-command", Door.COMMAND)
        record = start_migration(access, kind, target)
        job = migration_jobs(access, [record])[record.pk]
    if not background:
        follow_job(UUID(str(job.pk)), f"{vault.name}: {kind}")
        record.refresh_from_db()
    return record


def follow_job(job_id: UUID, title: str) -> None:
    """Work on the job, or watch the worker that was quicker, until it ends; a deferred one is taken up again."""
    with _bar(title) as show:
        while True:
            worker = Thread(target=_work, args=[job_id], daemon=True)
            worker.start()
            while worker.is_alive():
                worker.join(LOOK_EVERY)
                show(Job.objects.get(pk=job_id))
            job = Job.objects.get(pk=job_id)
            show(job)
            if job.state in ENDED:
                return
            until = job.due_at if job.state == JobState.PENDING else now()
            time.sleep(max(LOOK_EVERY, min((until - now()).total_seconds(), 5.0)))


def _work(job_id: UUID) -> None:
    try:
        run_job(job_id)
    finally:
        connection.close()


@contextmanager
def told_meanwhile(job_id: UUID, title: str) -> Iterator[None]:
    """A line every now and then about a job that somebody works on, for those who read a log instead of a terminal."""
    over = Event()
    teller = Thread(target=_tell_until, args=[over, job_id, title], daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


def _tell_until(over: Event, job_id: UUID, title: str) -> None:
    try:
        while not over.wait(TELL_EVERY):
            job = Job.objects.filter(pk=job_id).first()
            if job is not None and job.total:
                sys.stderr.write(f"{title}: {_standing(job)}\n")
    finally:
        connection.close()


def _standing(job: Job) -> str:
    """``importing 12,000 of 100,000, 640 a second, 138 s left``."""
    pace = job.pace
    speed = f", {pace.rate:,.0f} a second" if pace.rate else ""
    left = f", {pace.seconds_left:,.0f} s left" if pace.seconds_left is not None else ""
    return f"{job.stage} {job.done:,} of {job.total or 0:,}{speed}{left}"


@contextmanager
def _bar(title: str) -> Iterator[Callable[[Job], None]]:
    console = Console(stderr=True)
    speed = TextColumn("{task.fields[speed]}")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), speed, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=None, speed="")

        def show(job: Job) -> None:
            rate = job.pace.rate
            speed = f"{rate:,.0f} a second" if rate else ""
            progress.update(task, description=f"{title}: {job.stage}", completed=job.done, total=job.total, speed=speed)

        yield show
