"""Run one job: claim, work, finish or put back. Doors only pass the id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import UUID

import structlog

from banks.access import Access, system_access
from memories.jobs import JobKind
from memories.models import Job
from memories.rules.vocabulary import JobState
from memories.services.embedding import embed_memories, give_up
from memories.services.jobs import JobLost, claim_job, fail_job
from memories.services.upkeep import keep_index
from memoryhub.lib.errors import HubError
from memoryhub.lib.sealing import gate
from memoryhub.providers.base import ProviderError

log = structlog.get_logger(__name__)

BODIES: Mapping[JobKind, Callable[[Access, Job], int]] = {
    JobKind.EMBED_MEMORIES: embed_memories,
    JobKind.KEEP_INDEX: keep_index,
}


def run_job(job_id: UUID) -> bool:
    """Run the job if it is due and nobody else has it; whether it was run. Failures are noted on the job."""
    job = claim_job(job_id)
    if job is None:
        return False
    with gate.session():
        if job.state == JobState.DEAD:
            _clear_up(job)
            return False
        try:
            BODIES[JobKind(job.kind)](system_access(job.vault_id, f"job-{job.pk}"), job)
        except JobLost:
            log.info("job_lost", job_id=str(job.pk), attempt=job.attempts)
        except HubError as error:
            permanent = isinstance(error, ProviderError) and error.permanent
            log.warning("job_failed", job_id=str(job.pk), attempt=job.attempts, error=error.code)
            _failed(job, f"{error.code}: {error.message}", permanent=permanent)
        except Exception as error:
            # Only the kind of error: its text may quote what somebody wrote.
            log.exception("job_crashed", job_id=str(job.pk), attempt=job.attempts)
            _failed(job, type(error).__name__)
            raise
    return True


def _failed(job: Job, error: str, *, permanent: bool = False) -> None:
    if fail_job(job, error, permanent=permanent):
        _clear_up(job)


def _clear_up(dead: Job) -> None:
    if dead.kind == JobKind.EMBED_MEMORIES:
        give_up(system_access(dead.vault_id, f"job-{dead.pk}"))
