"""Work in the background: what waits, what runs, what failed, and the two things a person can do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from memories.rules.rollups import Metric, Period
from memories.rules.vocabulary import CallResult, JobState
from memories.search.statistics import read_statistics
from memories.services.jobs import cancel_job, count_jobs, get_job, list_jobs, retry_job
from memories.services.modelcalls import count_model_calls
from memories.web.addresses import Address
from memories.web.choices import Choice
from memories.web.jobwords import GOING, STATES, row_of_job
from memories.web.plots import queue_plot
from memoryhub.lib.pages import Failed, SeeOther, answer_page, part_of, safe_next, say

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.web.requests import HubRequest

QUEUE = (Metric.ENDED, Metric.WAITING, Metric.PEAK)


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
        "rows": [row_of_job(job, may_change) for job in list_jobs(request.access, state)],
        "is_going": any(counts[one] for one in GOING),
        "here": str(here.having(state=asked if state else "")),
        # Not for the part that asks again every few seconds.
        "queue": lambda: part_of(lambda: queue_plot(read_statistics(request.access, Period.WEEK, QUEUE)), "The queue"),
    }
    return answer_page(request, "memories/jobs.html", context, part="jobs")


def job(request: HubRequest, job_id: UUID) -> HttpResponse:
    """One job: how far it is, how fast, what it cost, what went wrong; asks again by itself until it ends."""
    found = get_job(request.access, job_id)
    spent = part_of(lambda: count_model_calls(request.access, found.created_at, found.request_id), "What it cost")
    context = {
        "row": row_of_job(found, request.access.has(KeyScope.OPS_WRITE)),
        "spent": spent,
        "calls": 0 if isinstance(spent, Failed) else sum(spent.results.values()) - spent.results[CallResult.SKIPPED],
        "here": request.path,
    }
    return answer_page(request, "memories/job.html", context, part="job")


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
