"""The fenced job table: claimed once, finished by whoever holds it, never lost and never looping."""

from __future__ import annotations

import datetime as dt

import pytest
import time_machine
from django.db import transaction

from banks.access import KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry
from memories.jobs import JobKind
from memories.models import Job
from memories.rules.progress import LEASE, Pace
from memories.rules.retries import MAX_ATTEMPTS, retry_after
from memories.rules.vocabulary import JobState
from memories.services.jobs import (
    JobLost,
    JobNotCancellable,
    JobNotRetryable,
    cancel_job,
    claim_job,
    count_jobs,
    due_jobs,
    enqueue_job,
    fail_job,
    finish_job,
    get_job,
    hold_job,
    list_jobs,
    report_progress,
    retry_job,
)
from memoryhub.lib.clock import now
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import new_id
from tests.factories import access_of, make_key

PAST = dt.timedelta(seconds=1)


def queued(access, key: str | None = None) -> Job:
    enqueue_job(access.vault_id, JobKind.EMBED_MEMORIES, dedupe_key=key)
    return Job.objects.filter(vault=access.vault).latest("created_at")


def claimed(job: Job) -> Job:
    taken = claim_job(job.pk)
    assert taken is not None
    return taken


def let_lease_expire(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(lease_until=now() - PAST)


def let_it_be_due(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(due_at=now() - PAST)


def test_a_job_is_claimed_once(access):
    """DESIGN §7: a second kick for the same job finds it taken."""
    job = queued(access)
    first = claimed(job)
    assert (first.state, first.attempts) == (JobState.RUNNING, 1)
    assert first.lease_until is not None
    assert LEASE - dt.timedelta(seconds=5) < first.lease_until - now() <= LEASE
    assert claim_job(job.pk) is None
    assert claim_job(new_id()) is None


def test_a_job_that_is_not_due_waits(access):
    """DESIGN §7: back-off is kept, also when a message comes too early."""
    job = queued(access)
    Job.objects.filter(pk=job.pk).update(due_at=now() + dt.timedelta(minutes=1))
    assert claim_job(job.pk) is None
    assert due_jobs() == []


def test_only_the_later_attempt_commits(access):
    """R3: an attempt whose lease ran out is fenced off at every step, and what it did is rolled back."""
    job = queued(access)
    early = claimed(job)
    let_lease_expire(job)
    assert due_jobs() == [job.pk]
    late = claimed(job)
    assert (early.attempts, late.attempts) == (1, 2)
    for step in (
        lambda: report_progress(early, 1, 2),
        lambda: hold_job(early),
        lambda: finish_job(early),
    ):
        with pytest.raises(JobLost), transaction.atomic():
            queued(access)
            step()
    assert Job.objects.count() == 1
    assert not fail_job(early, "late news")
    with transaction.atomic():
        hold_job(late)
        finish_job(late)
    job.refresh_from_db()
    assert (job.state, job.error, job.lease_until) == (JobState.DONE, "", None)
    assert claim_job(job.pk) is None


def test_what_is_done_leaves_nothing_undone(access):
    """The last step of many jobs is their end, and nobody reports it."""
    job = claimed(queued(access))
    report_progress(job, 3, 4, "asking")
    finish_job(job)
    job.refresh_from_db()
    assert (job.done, job.total) == (4, 4)


def test_progress_extends_the_lease(access):
    """DESIGN §7: whoever reports is alive."""
    job = claimed(queued(access))
    Job.objects.filter(pk=job.pk).update(lease_until=now() + PAST)
    report_progress(job, 3, 10, "embedding")
    job.refresh_from_db()
    assert (job.done, job.total, job.stage) == (3, 10, "embedding")
    assert job.lease_until is not None
    assert job.lease_until > now() + LEASE / 2


def test_five_attempts_and_then_it_is_dead(access):
    """DESIGN §7: with growing pauses, visible, never by itself again."""
    job = queued(access)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        let_it_be_due(job)
        buried = fail_job(claimed(job), f"attempt {attempt}")
        job.refresh_from_db()
        assert buried == (attempt == MAX_ATTEMPTS)
        if not buried:
            assert job.state == JobState.PENDING
            assert dt.timedelta(0) < job.due_at - now() <= retry_after(attempt)
    assert (job.state, job.error, job.attempts) == (JobState.DEAD, "attempt 5", 5)
    assert (due_jobs(), claim_job(job.pk)) == ([], None)
    assert [retry_after(n).seconds for n in (1, 2, 3, 4)] == [5, 20, 80, 320]


def test_a_worker_that_disappears_five_times_buries_the_job(access):
    """R10: poison that kills its worker is not fed to another one for ever."""
    job = queued(access)
    for _ in range(MAX_ATTEMPTS):
        claimed(job)
        let_lease_expire(job)
    dead = claimed(job)
    assert dead.state == JobState.DEAD
    assert "disappeared" in dead.error
    assert due_jobs() == []


def test_pointless_repetition_is_spared(access):
    """R10: a permanent failure is dead at once."""
    job = queued(access)
    assert fail_job(claimed(job), "no such model", permanent=True)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DEAD, 1)


def test_a_burst_leaves_one_waiting_job(access, other_access):
    """DESIGN §7: one waits per key and vault; while one runs, the next may wait."""
    for _ in range(5):
        queued(access, "waiting")
    queued(other_access, "waiting")
    assert Job.objects.filter(vault=access.vault).count() == 1
    claimed(Job.objects.get(vault=access.vault))
    queued(access, "waiting")
    assert count_jobs(access) == {"pending": 1, "running": 1, "done": 0, "dead": 0, "cancelled": 0}


def test_a_failure_yields_to_the_one_that_waits(access):
    """DESIGN §7: two pending twins are impossible; the older one steps aside."""
    job = claimed(queued(access, "waiting"))
    queued(access, "waiting")
    assert not fail_job(job, "the service is away")
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.CANCELLED, "A newer job does the same.")


def test_a_dead_job_can_be_tried_again(access):
    """DESIGN §7: with a new set of attempts and an audit row; only what has ended can."""
    job = queued(access)
    for state in (JobState.PENDING, JobState.RUNNING, JobState.DONE):
        Job.objects.filter(pk=job.pk).update(state=state)
        with pytest.raises(JobNotRetryable):
            retry_job(access, job.pk)
    Job.objects.filter(pk=job.pk).update(state=JobState.DEAD, attempts=5, error="x", finished_at=now())
    again = retry_job(access, job.pk)
    assert (again.state, again.attempts, again.error, again.finished_at) == (JobState.PENDING, 0, "", None)
    assert AuditEntry.objects.filter(action="retry_job", target_id=job.pk).count() == 1
    assert claimed(job).attempts == 1


def test_no_retry_beside_a_twin(access):
    """DESIGN §7: a newer one that waits does the same."""
    job = queued(access, "waiting")
    Job.objects.filter(pk=job.pk).update(state=JobState.DEAD)
    queued(access, "waiting")
    with pytest.raises(JobNotRetryable):
        retry_job(access, job.pk)


def test_a_cancelled_job_stops_at_its_next_step(access):
    """DESIGN §7: waiting or running; what has ended cannot be cancelled."""
    job = claimed(queued(access))
    assert cancel_job(access, job.pk).state == JobState.CANCELLED
    with pytest.raises(JobLost):
        report_progress(job, 1, 1)
    with pytest.raises(JobNotCancellable):
        cancel_job(access, job.pk)
    assert claim_job(job.pk) is None
    assert retry_job(access, job.pk).state == JobState.PENDING


def test_jobs_are_shown_by_state_and_vault(access, other_access):
    """API-17: newest first; another vault's look unknown; each verb needs its scope."""
    jobs = [queued(access) for _ in range(3)]
    Job.objects.filter(pk=jobs[0].pk).update(state=JobState.DEAD)
    theirs = queued(other_access)
    assert [job.pk for job in list_jobs(access)] == [job.pk for job in reversed(jobs)]
    assert [job.pk for job in list_jobs(access, JobState.DEAD)] == [jobs[0].pk]
    for verb in (get_job, retry_job, cancel_job):
        with pytest.raises(NotFound):
            verb(access, theirs.pk)
    reader = access_of(make_key(access, frozenset({KeyScope.OPS_READ}))[1])
    assert get_job(reader, jobs[0].pk).pk == jobs[0].pk
    for refused in (retry_job, cancel_job):
        with pytest.raises(MissingScope):
            refused(reader, jobs[0].pk)


def test_a_job_names_ids_only(access):
    """DESIGN law 5: an error is cut, and no column is wide enough for a memory."""
    job = claimed(queued(access))
    fail_job(job, "x" * 10_000)
    job.refresh_from_db()
    assert len(job.error) == 500
    assert job.ref == {}


def test_speed_is_measured_from_the_first_report_of_stage_and_attempt(access):
    """GEN-14: what an earlier attempt or stage did does not make this one look fast."""
    job = queued(access)
    with time_machine.travel(now(), tick=False) as clock:
        first = claimed(job)
        report_progress(first, 0, 1_000, "reading")
        clock.shift(10)
        report_progress(first, 400, 1_000, "reading")
        assert get_job(access, job.pk).pace == Pace(40.0, 15.0)
        clock.shift(LEASE.total_seconds() + 1)
        second = claimed(job)
        report_progress(second, 400, 1_000, "reading")
        clock.shift(10)
        report_progress(second, 500, 1_000, "reading")
        assert get_job(access, job.pk).pace == Pace(10.0, 50.0)
        report_progress(second, 0, 20, "writing")
        assert get_job(access, job.pk).pace == Pace()
        clock.shift(2)
        report_progress(second, 20, 20, "writing")
        finish_job(second)
        assert get_job(access, job.pk).pace == Pace(10.0, None)
