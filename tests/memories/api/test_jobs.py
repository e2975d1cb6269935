"""Jobs over HTTP."""

from __future__ import annotations

import datetime as dt

import pytest

from banks.models import Vault
from memories.models import Job
from memoryhub.lib.clock import now
from tests.conftest import ApiClient


@pytest.fixture
def dead(vault: Vault) -> Job:
    """A job nobody could finish."""
    return Job.objects.create(
        vault=vault, kind="embed_memories", state="dead", attempts=5, error="The provider is away."
    )


def test_jobs_are_listed_retried_and_cancelled(api: ApiClient, dead: Job):
    listed = api.send("GET", "/jobs?state=dead").json()
    assert [job["id"] for job in listed["items"]] == [str(dead.pk)]
    assert listed["counts"]["dead"] == 1
    assert api.send("GET", "/jobs?state=done").json()["items"] == []
    assert api.send("GET", f"/jobs/{dead.pk}").json()["error"] == "The provider is away."
    assert api.send("GET", f"/jobs/{dead.pk}").json()["rate"] is None
    assert api.send("POST", f"/jobs/{dead.pk}/cancel").status_code == 409
    retried = api.send("POST", f"/jobs/{dead.pk}/retry")
    assert (retried.status_code, retried.json()["state"], retried.json()["attempts"]) == (200, "pending", 0)
    assert api.send("POST", f"/jobs/{dead.pk}/retry").status_code == 409
    assert api.send("POST", f"/jobs/{dead.pk}/cancel").json()["state"] == "cancelled"
    assert api.send("GET", "/jobs?state=sleeping").status_code == 422
    assert api.send("GET", "/jobs?limit=0").status_code == 422


def test_a_running_job_says_how_fast_it_goes_and_how_long_it_still_takes(api: ApiClient, vault: Vault):
    at = now()
    running = Job.objects.create(
        vault=vault, kind="embed_memories", state="running", done=50, total=100,
        heartbeat_at=at, stage_at=at - dt.timedelta(seconds=100),
    )  # fmt: skip
    answer = api.send("GET", f"/jobs/{running.pk}").json()
    assert answer["rate"] == pytest.approx(0.5)
    assert answer["seconds_left"] == pytest.approx(100, abs=5)
