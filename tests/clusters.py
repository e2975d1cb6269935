"""Old memories about one thing, for the tests of summaries."""

from __future__ import annotations

import datetime as dt
from typing import Any

from banks.access import Access
from memories.jobs import JobKind
from memories.models import Job, Memory
from memories.rules.vocabulary import JobState
from memories.services.jobs import enqueue_job
from memories.services.running import run_job
from memoryhub.lib.clock import now
from tests.factories import remember

GARDEN = [f"The garden needs {number} more bags of soil for the tomato beds." for number in (3, 5, 7)]


def old(access: Access, *texts: str, days: float = 30, **more: Any) -> list[Memory]:
    """Memories that many days old, each an hour younger than the one before."""
    at = now() - dt.timedelta(days=days)
    return [
        remember(access, text, dedup=False, created_at=(at + dt.timedelta(hours=place)).isoformat(), **more)
        for place, text in enumerate(texts)
    ]


def summarise(access: Access) -> Job:
    """Run the job that waits, or a scheduled one."""
    kind, state = JobKind.SUMMARIZE_MEMORIES, JobState.PENDING
    waiting = Job.objects.filter(vault_id=access.vault_id, kind=kind, state=state)
    if not waiting.exists():
        enqueue_job(access.vault_id, JobKind.SUMMARIZE_MEMORIES, dedupe_key="schedule")
    job = waiting.get()
    run_job(job.pk)
    job.refresh_from_db()
    return job


def live() -> list[str]:
    """The texts that recall may return."""
    return [memory.content for memory in Memory.objects.recallable(now()).order_by("created_at", "id")]
