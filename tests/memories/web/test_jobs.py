"""Jobs in the browser."""

from __future__ import annotations

import pytest
from django.test import Client

from banks.models import Vault
from memories.models import Job
from memories.rules.vocabulary import JobState

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
