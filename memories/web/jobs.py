"""Work in the background: what waits, what runs, what failed, and the two things a person can do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from memories.rules.vocabulary import JobState
from memories.services.jobs import cancel_job, count_jobs, list_jobs, retry_job
from memories.web.addresses import Address
from memories.web.choices import Choice
from memories.web.forms import spoken
from memories.web.rows import State
from memoryhub.lib.pages import SeeOther, answer_page, safe_next, say

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.models import Job
    from memories.web.requests import HubRequest

STATES = {
    JobState.PENDING: State("Waiting", "clock", "note"),
    JobState.RUNNING: State("Running", "loader-circle", "note"),
    JobState.DONE: State("Done", "circle-check", "ok"),
    JobState.DEAD: State("Failed", "triangle-alert", "bad"),
    JobState.CANCELLED: State("Cancelled", "ban"),
}
GOING = {JobState.PENDING, JobState.RUNNING}


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job and what may be done with it."""

    job: Job
    kind: str
    state: State
    retry_url: str
    cancel_url: str


def _row(job: Job, may_change: bool) -> JobRow:
    state = JobState(job.state)
    stopped = state in {JobState.DEAD, JobState.CANCELLED}
    return JobRow(
        job=job,
        kind=spoken(job.kind),
        state=STATES[state],
        retry_url=reverse("retry_job", args=[job.pk]) if may_change and stopped else "",
        cancel_url=reverse("cancel_job", args=[job.pk]) if may_change and state in GOING else "",
    )


def jobs(request: HubRequest) -> HttpResponse:
    """The newest jobs, of one state or of all; asks again by itself while something is going on."""
    asked = request.GET.get("state", "")
    state = JobState(asked) if asked in set(JobState) else None
    counts = count_jobs(request.access)
    here = Address(request.path)
    tabs = [Choice("All", str(here), sum(counts.values()), state is None)]
    tabs += [
        Choice(STATES[one].label, str(here.having(state=one.value)), counts[one], one is state) for one in JobState
    ]
    may_change = request.access.has(KeyScope.OPS_WRITE)
    context = {
        "tabs": tabs,
        "rows": [_row(job, may_change) for job in list_jobs(request.access, state)],
        "is_going": any(counts[one] for one in GOING),
        "here": str(here.having(state=asked if state else "")),
    }
    return answer_page(request, "memories/jobs.html", context, part="jobs")


@require_POST
def retry(request: HubRequest, job_id: UUID) -> HttpResponse:
    """Give a failed job new attempts."""
    retry_job(request.access, job_id)
    say(request, "The job will be tried again.")
    return SeeOther(safe_next(request, reverse("jobs")))


@require_POST
def cancel(request: HubRequest, job_id: UUID) -> HttpResponse:
    """Stop a job."""
    cancel_job(request.access, job_id)
    say(request, "The job is cancelled.")
    return SeeOther(safe_next(request, reverse("jobs")))
