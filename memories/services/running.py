"""Run one job: claim, work, finish or put back. Doors only pass the id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import UUID

import structlog

from banks.access import Access, system_access
from memories.calls.guarding import ModelUnavailable
from memories.index.graphs import GraphsBusy
from memories.jobs import JobKind
from memories.models import Job
from memories.rules.vocabulary import JobState
from memories.services.applying import apply_cleanup
from memories.services.bulk import continue_bulk_change
from memories.services.checking import check_updates, settle_unchecked
from memories.services.cleanupschedule import plan_scheduled
from memories.services.consolidating import write_summaries
from memories.services.dreaming import run_dream
from memories.services.dreams import give_up_dream
from memories.services.embedding import embed_memories, give_up
from memories.services.erasingsubjects import erase_subject
from memories.services.extraction import extract_session
from memories.services.importing import import_vault
from memories.services.jobs import JobLost, claim_job, defer_job, fail_job
from memories.services.leasing import renewed
from memories.services.reembedding import reembed_memories
from memories.services.reindexing import reindex_memories
from memories.services.resealing import reseal_memories
from memories.services.retention import enforce_retention
from memories.services.summarizing import summarize_session
from memories.services.undoing import undo_changes
from memories.services.upkeep import LOOK_AGAIN, keep_index
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError
from memoryhub.lib.sealing import gate
from memoryhub.providers.base import ProviderError

log = structlog.get_logger(__name__)

BODIES: Mapping[JobKind, Callable[[Access, Job], int]] = {
    JobKind.BULK_CHANGE: continue_bulk_change,
    JobKind.EMBED_MEMORIES: embed_memories,
    JobKind.EXTRACT_SESSION: extract_session,
    JobKind.KEEP_INDEX: keep_index,
    JobKind.SUMMARIZE_SESSION: summarize_session,
    JobKind.CHECK_UPDATES: check_updates,
    JobKind.SUMMARIZE_MEMORIES: write_summaries,
    JobKind.UNDO_CHANGESET: undo_changes,
    JobKind.RESEAL_MEMORIES: reseal_memories,
    JobKind.REEMBED_MEMORIES: reembed_memories,
    JobKind.REINDEX_MEMORIES: reindex_memories,
    JobKind.DREAM: run_dream,
    JobKind.ERASE_SUBJECT: erase_subject,
    JobKind.IMPORT_VAULT: import_vault,
    JobKind.APPLY_CLEANUP: apply_cleanup,
    JobKind.ENFORCE_RETENTION: enforce_retention,
    JobKind.PLAN_CLEANUP: plan_scheduled,
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
            with renewed(job):
                BODIES[JobKind(job.kind)](system_access(job.vault_id, job.request_id), job)
        except JobLost:
            log.info("job_lost", job_id=str(job.pk), attempt=job.attempts)
        except ModelUnavailable as error:
            log.info("job_deferred", job_id=str(job.pk), attempt=job.attempts, until=str(error.retry_at))
            _wait_for_the_model(job, error)
        except GraphsBusy as busy:
            defer_job(job, now() + LOOK_AGAIN, f"{busy.code}: {busy.message}")
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


def _wait_for_the_model(job: Job, error: ModelUnavailable) -> None:
    if error.retry_at is None:
        _failed(job, f"{error.code}: {error.message}")
    else:
        defer_job(job, error.retry_at, f"{error.code}: {error.message}")


def _failed(job: Job, error: str, *, permanent: bool = False) -> None:
    if fail_job(job, error, permanent=permanent):
        _clear_up(job)


def _clear_up(dead: Job) -> None:
    if dead.kind == JobKind.EMBED_MEMORIES:
        give_up(system_access(dead.vault_id, dead.request_id))
    if dead.kind == JobKind.CHECK_UPDATES:
        settle_unchecked(system_access(dead.vault_id, dead.request_id), dead)
    if dead.kind == JobKind.DREAM:
        give_up_dream(system_access(dead.vault_id, dead.request_id), dead)
