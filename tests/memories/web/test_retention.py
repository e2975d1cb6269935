"""The page of a bank's retention: values with their source, a look that changes nothing, applied as counted."""

from __future__ import annotations

import datetime as dt
from html import unescape

import pytest

from memories.jobs import JobKind
from memories.models import Job, Memory
from memories.services.running import run_job
from memoryhub.lib.clock import now
from tests.factories import remember

pytestmark = pytest.mark.django_db
PAGE = "/banks/work/retention/"
POLICY = {"enable_retention": "on", "retention_max_age_days": "90"}


def page(answer) -> str:
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def old(access, text: str, bank: str = "Work") -> Memory:
    memory = remember(access, text, bank=bank)
    then = now() - dt.timedelta(days=100)
    Memory.objects.filter(pk=memory.pk).update(created_at=then, updated_at=then)
    return memory


def test_a_policy_is_looked_at_saved_and_applied_as_counted(browser, access):
    """PRN-14, CON-17: only this bank, and only after its count was confirmed."""
    old(access, "The printer was on floor two.")
    old(access, "The doctor was in Graz.", bank="Health")
    looked = page(browser.post(PAGE, {**POLICY, "look": "1"}))
    assert "1 memory. Nothing has been changed." in looked
    assert "The printer was on floor two." in looked
    assert "too old" in looked
    assert "Apply now" not in looked
    saved = browser.post(PAGE, {**POLICY, "save": "1"})
    assert (saved.status_code, saved["Location"]) == (303, f"{PAGE}?look=1#look")
    shown = page(browser.get(f"{PAGE}?look=1"))
    assert "Apply now to 1 memory" in shown
    assert ">Bank<" in shown
    assert not Memory.objects.exclude(archived_at=None).exists()
    assert browser.post(f"{PAGE}start/", {"expected_count": "1"}).status_code == 303
    assert run_job(Job.objects.get(kind=JobKind.ENFORCE_RETENTION).pk)
    assert [one.content for one in Memory.objects.exclude(archived_at=None)] == ["The printer was on floor two."]


def test_only_the_bank_it_was_asked_for(browser, access):
    for bank in ("work", "health"):
        old(access, f"Long ago at {bank}.", bank=bank)
        browser.post(f"/banks/{bank}/retention/", POLICY)
    browser.post(f"{PAGE}start/", {"expected_count": "1"})
    assert run_job(Job.objects.get(kind=JobKind.ENFORCE_RETENTION).pk)
    assert [one.content for one in Memory.objects.exclude(archived_at=None)] == ["Long ago at work."]


@pytest.mark.parametrize(("count", "told"), [("7", "look again"), ("", "Look first"), ("x", "Look first")])
def test_another_count_applies_nothing(browser, access, count: str, told: str):
    browser.post(PAGE, POLICY)
    refused = browser.post(f"{PAGE}start/", {"expected_count": count}, headers={"Referer": f"http://testserver{PAGE}"})
    assert (refused.status_code, refused["Location"]) == (303, PAGE)
    assert told in page(browser.get(PAGE))
    assert not Job.objects.filter(kind=JobKind.ENFORCE_RETENTION).exists()


def test_what_is_emptied_is_the_vaults_again_and_nonsense_is_refused(browser, access):
    browser.post(PAGE, {**POLICY, "retention_types": ["fact"]})
    assert 'value="90"' in page(browser.get(PAGE))
    refused = browser.post(PAGE, {**POLICY, "purge_archived_days": "3"})
    assert refused.status_code == 422
    browser.post(PAGE, {"enable_retention": ""})
    shown = page(browser.get(PAGE))
    assert 'value="90"' not in shown
    assert ">Bank<" not in shown


def test_a_reader_may_look_and_change_nothing(client, access, viewer):
    client.force_login(viewer, backend="allauth.account.auth_backends.AuthenticationBackend")
    shown = page(client.get(f"{PAGE}?look=1"))
    assert "Change it" not in shown
    assert "Apply now" not in shown
    assert client.post(PAGE, POLICY).status_code == 403
    assert client.post(f"{PAGE}start/", {"expected_count": "0"}).status_code == 403
