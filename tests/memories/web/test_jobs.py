"""Jobs in the browser."""

from __future__ import annotations

import datetime as dt

import pytest
from django.test import Client

from banks.models import Vault
from memories.models import Job, ModelCall
from memories.rules.vocabulary import JobState, Purpose
from memories.web.jobwords import ago, lasting, speed
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id

pytestmark = pytest.mark.django_db


def job(vault: Vault, state: JobState, **more: object) -> Job:
    return Job.objects.create(vault=vault, kind="embed_memories", state=state, **more)


def test_states_are_tabs_with_counts(browser: Client, vault: Vault):
    job(vault, JobState.DEAD, error="The service did not answer.", attempts=5)
    job(vault, JobState.RUNNING, done=3, total=10, stage="embedding", attempts=1)
    html = browser.get("/jobs/").content.decode()
    assert "The service did not answer." in html
    assert "3 of 10" in html
    only_dead = browser.get("/jobs/?state=dead").content.decode()
    assert "embedding" not in only_dead
    assert browser.get("/jobs/?state=nonsense").status_code == 200


def test_the_page_asks_again_only_while_something_is_going_on(browser: Client, vault: Vault):
    running = job(vault, JobState.RUNNING)
    asked = {"HX-Request": "true", "HX-Target": "jobs"}
    part = browser.get("/jobs/", headers=asked).content.decode()
    assert part.lstrip().startswith('<div id="jobs"')
    assert 'hx-trigger="every 3s"' in part
    Job.objects.filter(pk=running.pk).update(state=JobState.DONE)
    assert "hx-trigger" not in browser.get("/jobs/", headers=asked).content.decode()


def test_a_person_retries_and_cancels(browser: Client, vault: Vault):
    dead, waiting = job(vault, JobState.DEAD, attempts=5), job(vault, JobState.PENDING)
    assert browser.post(f"/jobs/{dead.pk}/retry/").status_code == 303
    assert browser.post(f"/jobs/{waiting.pk}/cancel/").status_code == 303
    dead.refresh_from_db()
    waiting.refresh_from_db()
    assert (dead.state, waiting.state) == (JobState.PENDING, JobState.CANCELLED)
    again = browser.post(f"/jobs/{waiting.pk}/cancel/", follow=True)
    assert "Only waiting or running jobs can be cancelled" in again.content.decode()


def test_a_job_has_a_page_that_says_how_far_it_is(browser: Client, vault: Vault):
    """GEN-14: stage, done and total, rate, time left, sign of life, attempts, cost."""
    at = now()
    running = job(
        vault, JobState.RUNNING, attempts=2, stage="archiving", done=3_000, total=12_000, heartbeat_at=at,
        started_at=at, stage_at=at - dt.timedelta(seconds=10), ref={"plan_id": "0199"},
    )  # fmt: skip
    spent = {"tokens_in": 1_200, "tokens_out": 80, "request_id": running.request_id}
    ModelCall.objects.create(vault=vault, purpose=Purpose.EXTRACT.value, result="ok", **spent)
    html = browser.get(f"/jobs/{running.pk}/").content.decode()
    for said in ("Archiving", "25 %", "3,000 of 12,000", "300 a second", "about 30 s left", "2 of 5", "0199"):
        assert said in html, said
    assert "1 question, 1,200 tokens in, 80 out" in html
    assert 'hx-trigger="every 2s"' in html
    assert f'href="/jobs/{running.pk}/"' in browser.get("/jobs/").content.decode()


def test_a_job_leads_to_what_it_changed_and_shows_no_machinery(browser: Client, vault: Vault):
    """Its ids are links; with whose permission it acts, and lists of ids, are not for people."""
    changeset, plan = new_id(), new_id()
    ref = {
        "plan_id": str(plan), "changeset_id": str(changeset), "mandate": {"actor": "x", "scopes": ["powers"]},
        "memory_ids": [str(new_id()) for _ in range(3)], "surprise": {"a": 1}, "day": "2026-11-22",
    }  # fmt: skip
    html = browser.get(f"/jobs/{job(vault, JobState.RUNNING, ref=ref).pk}/").content.decode()
    assert f'<a href="/changesets/{changeset}/">What it changed, and undo</a>' in html
    assert f'<a href="/cleanup/plans/{plan}/">' in html
    assert '<dt>Memories</dt><dd><span class="num">3</span>' in html
    assert "2026-11-22" in html
    for machinery in ("mandate", "powers", "surprise", "{&#x27;"):
        assert machinery not in html.casefold(), machinery


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "just now"), (12.9, "12 s ago"), (60, "1 min ago"), (7_300, "2 h ago"), (200_000, "2 d ago")],
)
def test_a_sign_of_life_is_told_to_the_second(seconds: float, said: str):
    assert ago(seconds) == said


def test_the_page_of_a_job_stops_asking_when_it_ended(browser: Client, vault: Vault):
    done = job(vault, JobState.DONE, done=5, total=5, attempts=1, finished_at=now())
    asked = {"HX-Request": "true", "HX-Target": "job"}
    part = browser.get(f"/jobs/{done.pk}/", headers=asked).content.decode()
    assert part.lstrip().startswith('<section id="job"')
    assert "hx-trigger" not in part
    assert "It changes no more by itself." in part


@pytest.mark.parametrize(
    ("state", "more", "said"),
    [
        (JobState.DEAD, {"error": "The disk is full."}, "retry: it goes on where it stopped"),
        (JobState.PENDING, {"error": "x", "attempts": 2}, "Attempt 2 of 5 failed"),
        (JobState.PENDING, {"error": "x", "stage": "deferred"}, "not the job that failed"),
        (JobState.CANCELLED, {}, "What was done before stays done"),
        (JobState.RUNNING, {"heartbeat_at": now() - dt.timedelta(minutes=2)}, "No sign of life"),
    ],
    ids=["dead", "failed", "deferred", "cancelled", "silent"],
)
def test_trouble_is_said_with_what_to_do_next(
    browser: Client, vault: Vault, state: JobState, more: dict[str, object], said: str
):
    html = browser.get(f"/jobs/{job(vault, state, **more).pk}/").content.decode()
    assert said in html


def test_another_vaults_job_has_no_page(browser: Client, other_vault: Vault):
    assert browser.get(f"/jobs/{job(other_vault, JobState.DONE).pk}/").status_code == 404


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "a few seconds"), (12, "about 10 s"), (89, "about 90 s"), (91, "about 2 min"), (9_000, "about 2 h")],
)
def test_how_long_it_still_takes(seconds: float, said: str):
    assert lasting(seconds) == said


@pytest.mark.parametrize(("rate", "said"), [(1_250.4, "1,250 a second"), (0.2, "12 a minute"), (0.001, "1 a minute")])
def test_speed_in_words(rate: float, said: str):
    assert speed(rate) == said
