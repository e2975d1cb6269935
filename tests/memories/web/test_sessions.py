"""Conversations in the browser."""

from __future__ import annotations

import pytest
from django.test import Client

from banks.access import Access
from memories.models import Job, Memory, Message, Session
from memoryhub.lib.sealing import Sealed
from tests.factories import converse, remember

pytestmark = pytest.mark.django_db

CALL = {"role": "ai", "content": "", "tool_calls": [{"id": "a", "name": "look_up", "arguments": {"city": "Oslo"}}]}
RESULT = {"role": "tool", "tool_call_id": "a", "tool_name": "look_up", "content": "Rain.", "is_error": True}


def page_of(session: Session, query: str = "") -> str:
    return f"/sessions/{session.pk}/{query}"


def test_the_list_and_an_empty_one(browser: Client, access: Access):
    assert "No conversations yet" in browser.get("/sessions/").content.decode()
    converse(access, "monday", "Hello.", user_id="anna")
    converse(access, "tuesday", "Hello.", user_id="ben")
    html = browser.get("/sessions/").content.decode()
    assert "monday" in html
    assert "1 to read" in html
    only = browser.get("/sessions/?user_id=anna").content.decode()
    assert "monday" in only
    assert "tuesday" not in only
    assert browser.get("/sessions/?cursor=nonsense").status_code == 200


def test_a_conversation_with_its_tools_window_and_memories(browser: Client, access: Access):
    """STM-02, STM-09, SUM-07 for people: who said what, what a model would see, what was remembered."""
    session = converse(
        access, "monday", "One?", {"role": "ai", "content": "Two."}, "Three?", CALL, RESULT, user_id="anna"
    )
    remember(access, "The user counts.", session_id="monday")
    Session.objects.filter(pk=session.pk).update(summarized_through=1)
    html = browser.get(page_of(session, "?max_rounds=1")).content.decode()
    assert "look_up" in html
    assert "Oslo" in html
    assert "The user counts." in html
    assert html.count("Left out of the window") == 2
    assert 'answers <a href="#message-4">message 4</a>, call <code>a</code>' in html
    assert "<b>3</b> messages" in html
    assert "2 left out" in html
    wrong = browser.get(page_of(session, "?max_rounds=0&max_tokens=many")).content.decode()
    assert wrong.count("error-text") == 2


def test_one_broken_message_breaks_only_itself(browser: Client, access: Access):
    session = converse(access, "monday", "Readable.", "Broken.")
    Message.objects.filter(number=2).update(content=Sealed(b"M\x01broken"))
    Session.objects.update(summary=Sealed(b"M\x01broken"))
    html = browser.get(page_of(session)).content.decode()
    assert "Readable." in html
    assert "This message cannot be opened." in html


def test_a_long_conversation_is_paged(browser: Client, access: Access):
    session = converse(access, "monday", *(f"turn-{number}." for number in range(1, 61)))
    newest = browser.get(page_of(session)).content.decode()
    assert "turn-60." in newest
    assert "turn-10." not in newest
    older = browser.get(page_of(session, "?before=11")).content.decode()
    assert "turn-10." in older
    assert "Older" not in older


def test_a_preview_shows_and_writes_nothing(browser: Client, access: Access):
    """The dry run in the browser; a reload of its address leads back to the page."""
    session = converse(access, "monday", "I live in Leeds. My password is hunter2.")
    html = browser.post(f"/sessions/{session.pk}/preview/").content.decode()
    assert "The user lives in Leeds." in html
    assert "by patterns, without a language model" in html
    assert "Nothing was written." in html
    assert not Memory.objects.exists()
    assert browser.get(f"/sessions/{session.pk}/preview/").status_code == 302


def test_reading_now(browser: Client, access: Access):
    session = converse(access, "monday", "I live in Leeds.")
    told = browser.post(f"/sessions/{session.pk}/flush/", follow=True).content.decode()
    assert "It is read for memories now." in told
    assert Job.objects.get().due_at <= Job.objects.get().created_at or Job.objects.get().ref["urgent"]
    Session.objects.update(extracted_through=1)
    assert "read already" in browser.post(f"/sessions/{session.pk}/flush/", follow=True).content.decode()


def test_viewers_and_strangers_see_no_conversation(
    viewer: object, access: Access, other_access: Access, browser: Client
):
    """Conversations need the scope `sessions`; another vault's are not there."""
    reader = Client()
    reader.force_login(viewer, backend="allauth.account.auth_backends.AuthenticationBackend")  # type: ignore[arg-type]
    assert "/sessions/" not in reader.get("/").content.decode()
    assert reader.get("/sessions/").status_code == 403
    foreign = converse(other_access, "monday", "Hello.")
    assert browser.get(page_of(foreign)).status_code == 404
