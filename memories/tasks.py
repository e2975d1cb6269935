"""Celery's door: two tasks, ids only. The job table decides what is done; a message is only a kick."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from memories.services.accesses import trim_access_log
from memories.services.deliveries import someone_listens, trim_deliveries
from memories.services.delivering import deliver_webhooks as deliver
from memories.services.delivering import has_waiting
from memories.services.embedding import wake_waiting
from memories.services.eventlog import trim_events
from memories.services.idempotency import forget_old_answers
from memories.services.imports import drop_abandoned_imports
from memories.services.jobs import due_jobs
from memories.services.rollups import roll_up
from memories.services.running import run_job as run
from memories.services.schedules import enqueue_periodic
from memoryhub.lib.kick import DELIVER, RUN_JOB, nudge_deliveries


@shared_task(name=RUN_JOB)
def run_job(job_id: str) -> None:
    """Run one job, if it is due."""
    run(UUID(job_id))


@shared_task(name=DELIVER)
def deliver_webhooks() -> None:
    """Tell endpoints what happened, unless another process is at it."""
    if deliver() and has_waiting():
        nudge_deliveries()


@shared_task(name="memories.sweep_jobs")
def sweep_jobs() -> None:
    """Run what is due and what a lost message or a dead worker left behind; forget what is old; count."""
    wake_waiting()
    enqueue_periodic()
    for job_id in due_jobs():
        run(job_id)
    forget_old_answers()
    trim_access_log()
    drop_abandoned_imports()
    trim_events()
    trim_deliveries()
    if someone_listens():
        nudge_deliveries()
    roll_up()
