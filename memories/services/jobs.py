"""The fenced job table: work is written with its cause, claimed with a lease, finished by the attempt that holds it.

Broker messages are only hints: a lost one is found by the sweeper, a doubled one finds the job taken.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Case, Count, F, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Cast, Coalesce

from banks.access import Access, KeyScope
from banks.services.audit import Audited, record_audit
from memories.events import EventType
from memories.jobs import JobKind
from memories.models import Dream, Happened, Job, MigrationRecord, Session, VaultImport, record_events
from memories.rules.datamigrations import MigrationState
from memories.rules.progress import LEASE
from memories.rules.retries import MAX_ATTEMPTS, retry_after
from memories.rules.vocabulary import JobState
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, NotFound
from memoryhub.lib.ids import new_id, parse_id
from memoryhub.lib.kick import kick

ERROR_LENGTH = 500


class JobLost(Conflict):
    """Another attempt holds this job now; this one's work was rolled back."""

    code = "job_lost"


class JobNotRetryable(Conflict):
    """Only dead or cancelled jobs can be retried; this one is waiting, running or done."""

    code = "job_not_retryable"


class JobNotCancellable(Conflict):
    """Only waiting or running jobs can be cancelled."""

    code = "job_not_cancellable"


def enqueue_job(
    vault_id: UUID,
    kind: JobKind,
    ref: Mapping[str, Any] | None = None,
    *,
    dedupe_key: str | None = None,
    due: dt.datetime | None = None,
) -> None:
    """Write a job in the running transaction and kick a worker after commit; a waiting twin makes it needless.

    One that is ``due`` later is left to the sweeper.
    """
    at = now()
    job = Job(id=new_id(), vault_id=vault_id, kind=kind.value, ref=dict(ref or {}), dedupe_key=dedupe_key)
    job.created_at, job.due_at = at, due or at
    Job.objects.bulk_create([job], ignore_conflicts=True)
    if job.due_at <= at:
        transaction.on_commit(lambda: kick(job.pk), robust=True)


def claim_job(job_id: UUID) -> Job | None:
    """Take a due job: pending, or running with an expired lease. None when there is nothing to take.

    A job whose worker disappeared in every attempt comes back dead, so that somebody can clear up after it.
    The attempt number is the fence: whoever claims later makes every earlier attempt's commit fail.
    """
    with transaction.atomic():
        at = now()
        due = Q(state=JobState.PENDING, due_at__lte=at) | Q(state=JobState.RUNNING, lease_until__lt=at)
        job = Job.objects.select_for_update(skip_locked=True).filter(due, pk=job_id).first()
        if job is None:
            return None
        if job.attempts >= MAX_ATTEMPTS:
            _bury(job, job.error or "The worker disappeared during every attempt.")
            return job
        job.state, job.attempts = JobState.RUNNING.value, job.attempts + 1
        job.started_at = job.heartbeat_at = at
        job.lease_until, job.stage_at = at + LEASE, None
        job.save(update_fields=["state", "attempts", "started_at", "heartbeat_at", "lease_until", "stage_at"])
    return job


def report_progress(job: Job, done: int, total: int, stage: str = "") -> None:
    """Note progress and extend the lease. Raises JobLost when the job was cancelled or claimed anew."""
    at = now()
    held = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, attempts=job.attempts)
    same = Q(stage=stage, stage_at__isnull=False, done__lte=done)
    if not held.update(
        stage_at=Case(When(same, then=F("stage_at")), default=Value(at)),
        stage_done=Case(When(same, then=F("stage_done")), default=Value(done)),
        done=done,
        total=total,
        stage=stage,
        heartbeat_at=at,
        lease_until=at + LEASE,
    ):
        raise JobLost


def renew_lease(job_id: UUID, attempt: int) -> bool:
    """A sign of life of this attempt, which extends its lease; False when it has none any more.

    Also False while somebody holds the row: then nobody else can take the job either, and it can be said again soon.
    """
    with connection.cursor() as cursor:
        cursor.execute(_RENEWED, [now() + LEASE, job_id, JobState.RUNNING.value, attempt])
        return bool(cursor.rowcount)


_RENEWED = """
    UPDATE memories_job SET lease_until = %s WHERE id = (
        SELECT id FROM memories_job WHERE id = %s AND state = %s AND attempts = %s FOR UPDATE SKIP LOCKED
    )
"""


def hold_job(job: Job) -> None:
    """Lock the job inside the transaction that commits an effect. Raises JobLost, which undoes the effect."""
    held = Job.objects.select_for_update().filter(pk=job.pk, state=JobState.RUNNING, attempts=job.attempts)
    if not held.exists():
        raise JobLost


def finish_job(job: Job) -> None:
    """Done, with nothing left to do; call it in the transaction of the last effect. Raises JobLost."""
    held = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, attempts=job.attempts)
    whole = Coalesce("total", "done")
    if not held.update(state=JobState.DONE, finished_at=now(), lease_until=None, error="", done=whole):
        raise JobLost
    _tell(job, EventType.JOB_DONE)


def fail_job(job: Job, error: str, *, permanent: bool = False) -> bool:
    """Put the job back for later, or bury it when its attempts are used up or trying again is pointless.

    Whether it was buried.
    """
    with transaction.atomic():
        held = Job.objects.select_for_update().filter(pk=job.pk, state=JobState.RUNNING, attempts=job.attempts).first()
        if held is None:
            return False
        if permanent or held.attempts >= MAX_ATTEMPTS:
            _bury(held, error)
            return True
        if _put_back(held, now() + retry_after(held.attempts), error):
            _tell(held, EventType.JOB_FAILED)
    return False


def defer_job(job: Job, until: dt.datetime, why: str) -> None:
    """Put the job back until then; the attempt does not count, as it was not the job that failed (GRD-13, DEF-07).

    The number may be handed out again: whoever had it ends here, and an earlier attempt that woke up has a lower one.
    """
    with transaction.atomic():
        held = Job.objects.select_for_update().filter(pk=job.pk, state=JobState.RUNNING, attempts=job.attempts).first()
        if held is not None:
            held.attempts, held.stage = held.attempts - 1, "deferred"
            _put_back(held, until, why)


def _put_back(held: Job, due_at: dt.datetime, error: str) -> bool:
    """Whether it waits again: where a newer one does the same, it is cancelled."""
    if _has_waiting_twin(held):
        held.state, held.finished_at = JobState.CANCELLED.value, now()
        held.error = "A newer job does the same."
        held.save(update_fields=["state", "finished_at", "error"])
        _tell(held, EventType.JOB_CANCELLED)
        return False
    held.state, held.error = JobState.PENDING.value, error[:ERROR_LENGTH]
    held.due_at, held.lease_until = due_at, None
    held.save(update_fields=["state", "error", "due_at", "lease_until", "attempts", "stage"])
    return True


def _has_waiting_twin(job: Job) -> bool:
    if job.dedupe_key is None:
        return False
    same_work = Job.objects.filter(vault_id=job.vault_id, kind=job.kind, dedupe_key=job.dedupe_key)
    return same_work.filter(state=JobState.PENDING).exclude(pk=job.pk).exists()


def _note_migration(job: Job, state: MigrationState, error: str = "") -> None:
    """What becomes of the job becomes of the entry it has in the ledger of migrations (MIG-12)."""
    if record_id := job.ref.get("migration"):
        ended = None if state == MigrationState.RUNNING else now()
        record = MigrationRecord.objects.filter(vault_id=job.vault_id, pk=record_id)
        record.update(state=state.value, error=error[:ERROR_LENGTH], finished_at=ended)


def _bury(job: Job, error: str) -> None:
    _note_migration(job, MigrationState.FAILED, error)
    job.state, job.error = JobState.DEAD.value, error[:ERROR_LENGTH]
    job.finished_at, job.lease_until = now(), None
    job.save(update_fields=["state", "error", "finished_at", "lease_until"])
    _tell(job, EventType.JOB_DEAD)


def _tell(job: Job, event: EventType) -> None:
    data = {"kind": job.kind, "attempts": job.attempts}
    record_events(job.vault_id, Happened(event, "job", job.pk, data, request_id=job.request_id))


def due_jobs(limit: int = 100) -> list[UUID]:
    """Ids of jobs somebody should look at: due ones and those whose worker went silent. The hub's own sweep."""
    at = now()
    due = Q(state=JobState.PENDING, due_at__lte=at) | Q(state=JobState.RUNNING, lease_until__lt=at)
    return list(Job.objects.filter(due).order_by("due_at").values_list("pk", flat=True)[:limit])


def list_jobs(access: Access, state: JobState | None = None, limit: int = 100) -> list[Job]:
    """The vault's newest jobs, of one state if given; what the caller asked for where it reaches only a part.

    Needs ops:read.
    """
    access.require(KeyScope.OPS_READ)
    jobs = _visible(access)
    return list((jobs.filter(state=state.value) if state else jobs).order_by("-created_at", "-pk")[:limit])


def count_jobs(access: Access) -> dict[str, int]:
    """How many of the jobs it may see are in each state. Needs ops:read."""
    access.require(KeyScope.OPS_READ)
    found = dict(_visible(access).order_by().values_list("state").annotate(n=Count("pk")))
    return {state.value: found.get(state.value, 0) for state in JobState}


def get_job(access: Access, job_id: str | UUID) -> Job:
    """One job. Needs ops:read. Raises NotFound."""
    access.require(KeyScope.OPS_READ)
    return _job(access, job_id)


def _job(access: Access, job_id: str | UUID) -> Job:
    job = _visible(access).filter(pk=parse_id(job_id)).first()
    if job is None:
        raise NotFound("There is no such job in this vault.")
    return job


def _visible(access: Access) -> QuerySet[Job]:
    """Every job of the vault; whoever reaches only a part sees what it asked for and what reads its conversations.

    The others name memories, or do the whole vault's work, which is nobody's else to stop.
    """
    rows = Job.objects.filter(vault_id=access.vault_id)
    if access.reaches_whole_vault:
        return rows
    asked = {"actor_kind": access.actor.kind, "actor_id": access.actor.id}
    dreams = Dream.objects.filter(vault_id=access.vault_id, **asked).values("job_id")
    imports = VaultImport.objects.filter(vault_id=access.vault_id, mandate__contains=asked).values("job_id")
    heard = Session.objects.visible_to(access).annotate(key=Cast("pk", TextField())).values("key")
    talks = Q(kind__in=[JobKind.EXTRACT_SESSION, JobKind.SUMMARIZE_SESSION], dedupe_key__in=heard)
    return rows.filter(Q(ref__mandate__contains=asked) | Q(pk__in=dreams) | Q(pk__in=imports) | talks)


def retry_job(access: Access, job_id: str | UUID) -> Job:
    """Give a dead or cancelled job a new set of attempts. Needs ops:write. Raises JobNotRetryable."""
    access.require(KeyScope.OPS_WRITE)
    job = _job(access, job_id)
    with transaction.atomic():
        if _has_waiting_twin(job):
            raise JobNotRetryable("A newer job that does the same is waiting already.")
        ended = Job.objects.filter(pk=job.pk, state__in=[JobState.DEAD, JobState.CANCELLED])
        if not ended.update(state=JobState.PENDING, attempts=0, due_at=now(), error="", finished_at=None):
            raise JobNotRetryable
        _revive_migration(job)
        record_audit(access, Audited("retry_job", "job", job.pk, event=EventType.JOB_RETRIED))
        transaction.on_commit(lambda: kick(job.pk), robust=True)
    return _job(access, job_id)


def _revive_migration(job: Job) -> None:
    try:
        with transaction.atomic():
            _note_migration(job, MigrationState.RUNNING)
    except IntegrityError:
        raise JobNotRetryable("A newer migration of the same kind is running already.") from None


def cancel_job(access: Access, job_id: str | UUID) -> Job:
    """Stop a waiting or running job; the running attempt's next commit is refused. Needs ops:write."""
    access.require(KeyScope.OPS_WRITE)
    job = _job(access, job_id)
    with transaction.atomic():
        going = Job.objects.filter(pk=job.pk, state__in=[JobState.PENDING, JobState.RUNNING])
        if not going.update(
            state=JobState.CANCELLED, finished_at=now(), lease_until=None, attempts=F("attempts"), error=""
        ):
            raise JobNotCancellable
        _note_migration(job, MigrationState.CANCELLED)
        record_audit(access, Audited("cancel_job", "job", job.pk, event=EventType.JOB_CANCELLED))
    return _job(access, job_id)
