"""Conversations over HTTP."""

from __future__ import annotations

from collections.abc import Callable

from banks.access import KeyScope
from memories.models import IdempotencyRecord, Message, Session
from tests.conftest import ApiClient

SAID = {"role": "human", "content": "I live in Bergen."}


def test_turns_go_in_and_come_back(api: ApiClient):
    """TIE-09, STM-02: one, many, and the window of them."""
    first = api.send("POST", "/sessions/monday/messages", {**SAID, "userId": "u1"})
    assert first.status_code == 201, first.content
    many = {"messages": [{"role": "assistant", "content": "Nice."}, {"role": "user", "content": "Yes."}]}
    added = api.send("POST", "/sessions/monday/messages", many).json()
    assert [(one["number"], one["outcome"]) for one in added["results"]] == [(2, "created"), (3, "created")]
    assert (added["session"]["session_id"], added["session"]["user_id"]) == ("monday", "u1")
    window = api.send("GET", "/sessions/monday/messages?max_rounds=1").json()
    assert [(one["role"], one["content"]) for one in window["messages"]] == [("human", "Yes.")]
    assert (window["left_out"], window["session"]["messages"]) == (2, 3)
    listed = api.send("GET", "/sessions?user_id=u1").json()
    assert [one["session_id"] for one in listed["items"]] == ["monday"]
    assert api.send("GET", "/sessions/monday").json() == listed["items"][0]


def test_a_repeated_message_is_answered_not_stored(api: ApiClient):
    """TIE-17: by its id, and by Idempotency-Key."""
    body = {**SAID, "id": "m1"}
    one = api.send("POST", "/sessions/s/messages", body)
    two = api.send("POST", "/sessions/s/messages", body)
    assert (one.status_code, two.status_code) == (201, 200)
    assert two.json()["results"][0] == {**one.json()["results"][0], "outcome": "duplicate"}
    other = api.send("POST", "/sessions/s/messages", {**body, "content": "Something else."})
    assert (other.status_code, other.json()["code"]) == (409, "message_id_reused")
    for _ in range(2):
        assert api.send("POST", "/sessions/s/messages", SAID, Idempotency_Key="k1").status_code == 201
    assert Message.objects.count() == 2


def test_a_summary_that_is_not_there_yet(api: ApiClient):
    api.send("POST", "/sessions/s/messages", SAID)
    told = {"session_id": "s", "summary": None, "summarized": 0, "messages": 1}
    assert api.send("GET", "/sessions/s/summary").json() == told
    assert api.send("GET", "/sessions/t/summary").status_code == 404


def test_flush_and_nothing_to_flush(api: ApiClient):
    """TIE-08."""
    api.send("POST", "/sessions/s/messages", SAID)
    flushed = api.send("POST", "/sessions/s/flush")
    assert (flushed.status_code, flushed.json()["unread"]) == (202, 1)
    assert api.send("GET", f"/jobs/{flushed.json()['job_id']}").json()["kind"] == "extract_session"
    Session.objects.update(extracted_through=1)
    assert api.send("POST", "/sessions/s/flush").status_code == 200


def test_erasing_is_asked_for_by_name(api: ApiClient):
    api.send("POST", "/sessions/s/messages", SAID, Idempotency_Key="k1")
    refused = api.send("DELETE", "/sessions/s")
    assert (refused.status_code, refused.json()["code"]) == (422, "erase_only")
    receipt = api.send("DELETE", "/sessions/s?erase=true").json()
    gone = {
        "sessions": 1,
        "messages": 1,
        "summaries": 0,
        "jobs": 1,
        "kept_answers": 1,
        "model_calls": 0,
        "notes": 0,
        "saved_views": 0,
    }
    assert receipt["removed"] == gone
    assert not IdempotencyRecord.objects.exists()
    assert api.send("GET", "/sessions/s").status_code == 404


def test_a_preview_is_kept_nowhere(api: ApiClient):
    """GEN-11: what it quoted is not readable through an Idempotency-Key once the conversation is erased."""
    api.send("POST", "/sessions/s/messages", SAID)
    shown = api.send("POST", "/sessions/s/extract", {}, Idempotency_Key="look")
    assert "Bergen" in shown.json()["facts"][0]["content"]
    assert not IdempotencyRecord.objects.exists()
    api.send("DELETE", "/sessions/s?erase=true")
    assert api.send("POST", "/sessions/s/extract", {}, Idempotency_Key="look").status_code == 404


def test_what_cannot_be_a_turn(api: ApiClient, api_with: Callable[..., ApiClient]):
    bodies: list[dict[str, object]] = [
        {"role": "human"},
        {"role": "narrator", "content": "x"},
        {"content": "x"},
        {"messages": []},
        {"messages": [SAID], "mood": "good"},
        {**SAID, "mood": "good"},
        {"messages": [SAID] * 501},
    ]
    for body in bodies:
        assert api.send("POST", "/sessions/s/messages", body).status_code == 422, body
    assert api.send("POST", f"/sessions/{'x' * 256}/messages", SAID).status_code == 422
    past = {**SAID, "created_at": "2020-01-01T00:00:00Z"}
    assert api_with(KeyScope.SESSIONS).send("POST", "/sessions/s/messages", past).status_code == 403


def test_a_look_at_what_would_be_remembered(api: ApiClient):
    """The dry run, without a model: facts with bank and verdict; nothing is written."""
    api.send("POST", "/sessions/s/messages", SAID)
    preview = api.send("POST", "/sessions/s/extract", {"dry_run": True}).json()
    (fact,) = preview["facts"]
    assert (fact["content"], fact["bank"], fact["verdict"]) == ("The user lives in Bergen.", "Personal", "accepted")
    assert (preview["extractor"], preview["messages"], fact["messages"]) == ("extractive", 1, [1])
    assert api.send("GET", "/memories").json()["total"] == 0
    assert api.send("POST", "/sessions/s/extract", {"dry_run": False}).json()["code"] == "dry_run_only"


def test_a_preference_is_saved_with_the_message(api: ApiClient):
    """OPT-08."""
    added = api.send("POST", "/sessions/s/messages", {"role": "human", "content": "I love coffee"}).json()
    memory = api.send("GET", f"/memories/{added['results'][0]['memory_id']}").json()
    assert (memory["content"], memory["session_id"]) == ("The user loves coffee.", "s")
