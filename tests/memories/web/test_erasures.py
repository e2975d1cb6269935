"""The page of erasures: count, confirm, receipt, verify; and the way there from a conversation."""

from __future__ import annotations

from html import unescape

import pytest
from django.test import Client

from memories.jobs import JobKind
from memories.models import Job, Memory, Session
from memories.services.running import run_job
from tests.factories import converse, remember

pytestmark = pytest.mark.django_db


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def test_a_conversation_is_counted_confirmed_erased_and_proved(browser, access):
    """UI, DESIGN §1: nothing goes before the count was confirmed; afterwards there is a receipt that holds."""
    session = converse(access, "tuesday", "I sing.")
    remember(access, "Sings.", session_id="tuesday")
    way = "/activity/erasures/?kind=session_id&name=tuesday"
    assert way in page(browser, f"/sessions/{session.pk}/")
    shown = page(browser, way)
    assert "1 memory, 1 session and 1 message would be erased" in shown
    assert (Memory.objects.count(), Session.objects.count()) == (1, 1)
    form = {"kind": "session_id", "name": "tuesday", "expected_count": "2"}
    assert browser.post("/activity/erasures/erase/", form).status_code == 303
    assert run_job(Job.objects.get(kind=JobKind.ERASE_SUBJECT).pk)
    assert (Memory.objects.count(), Session.objects.count()) == (0, 0)
    listed = page(browser, "/activity/erasures/")
    assert "Signed" in listed
    receipt = listed.split("/activity/erasures/")[-1].split("/verify/")[0]
    assert browser.post(f"/activity/erasures/{receipt}/verify/").status_code == 303
    assert "genuine, and what it names is gone" in page(browser, "/activity/erasures/")


def test_a_stale_count_erases_nothing(browser, access):
    remember(access, "Bob likes tea.", user_id="bob")
    form = {"kind": "user_id", "name": "bob", "expected_count": "7"}
    assert browser.post("/activity/erasures/erase/", form).status_code == 303
    assert "count again" in page(browser, "/activity/erasures/")
    assert not Job.objects.filter(kind=JobKind.ERASE_SUBJECT).exists()


def test_a_reader_sees_receipts_and_no_way_to_erase(client, access, viewer):
    client.force_login(viewer, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert "Erase everything" not in page(client, "/activity/erasures/?kind=user_id&name=bob")
