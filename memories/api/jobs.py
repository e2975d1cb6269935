"""Background work: what waits, runs, is done or dead."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router
from pydantic import Field, with_config

from banks.access import KeyScope
from memories.api.requests import ApiRequest
from memories.jobs import JobKind
from memories.models import Job
from memories.rules.vocabulary import JobState
from memories.services import jobs
from memories.services.jobs import JobNotCancellable, JobNotRetryable
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told

router = Router()


@with_config(
    shown(
        {
            "kind": "summarize_memories",
            "ref": {},
            "state": "running",
            "stage": "summarise",
            "done": 120,
            "total": 400,
            "attempts": 1,
            "started_at": "2026-11-21T10:15:01Z",
            "heartbeat_at": "2026-11-21T10:15:04Z",
            "rate": 40.0,
            "seconds_left": 7.0,
        }
    )
)
class JobOut(TypedDict):
    """One job; ``ref`` holds ids only. ``rate`` is steps a second of this stage, null where nothing can be said."""

    id: UUID
    kind: Annotated[str, Word(JobKind)]
    ref: dict[str, Any]
    state: Annotated[str, Word(JobState)]
    stage: str
    done: int
    total: int | None
    attempts: int
    error: str
    due_at: dt.datetime
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None
    heartbeat_at: dt.datetime | None
    rate: float | None
    seconds_left: float | None


@with_config(shown({"counts": {"running": 1, "done": 214}}))
class JobList(TypedDict):
    """The newest jobs, and how many there are in each state."""

    items: list[JobOut]
    counts: dict[str, int]


def job_out(job: Job) -> JobOut:
    """One job."""
    going = job.pace
    return {
        "id": job.pk,
        "kind": job.kind,
        "ref": job.ref,
        "state": job.state,
        "stage": job.stage,
        "done": job.done,
        "total": job.total,
        "attempts": job.attempts,
        "error": job.error,
        "due_at": job.due_at,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "heartbeat_at": job.seen_at,
        "rate": going.rate,
        "seconds_left": going.seconds_left,
    }


@router.get("/jobs", response=JobList, **told("List jobs", KeyScope.OPS_READ))
def list_jobs(
    request: ApiRequest, state: JobState | None = None, limit: Annotated[int, Field(ge=1, le=200)] = 100
) -> HttpResponse:
    """The vault's newest jobs, of one state if given."""
    found = jobs.list_jobs(request.access, state, limit)
    return json_answer({"items": [job_out(job) for job in found], "counts": jobs.count_jobs(request.access)})


@router.get("/jobs/{job_id}", response=JobOut, **told("Read a job", KeyScope.OPS_READ))
def get_job(request: ApiRequest, job_id: str) -> HttpResponse:
    """One job."""
    return json_answer(job_out(jobs.get_job(request.access, job_id)))


@router.post("/jobs/{job_id}/cancel", response=JobOut, **told("Cancel a job", KeyScope.OPS_WRITE, JobNotCancellable))
def cancel_job(request: ApiRequest, job_id: str) -> HttpResponse:
    """Stop a waiting or running job; a running attempt cannot commit any more."""
    return json_answer(job_out(jobs.cancel_job(request.access, job_id)))


@router.post("/jobs/{job_id}/retry", response=JobOut, **told("Retry a job", KeyScope.OPS_WRITE, JobNotRetryable))
def retry_job(request: ApiRequest, job_id: str) -> HttpResponse:
    """Give a dead or cancelled job a new set of attempts."""
    return json_answer(job_out(jobs.retry_job(request.access, job_id)))
