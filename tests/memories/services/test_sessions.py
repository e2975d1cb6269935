"""Conversations taken in: once each, in order, sealed, and waiting to be read."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
import time_machine

from banks.access import Access, KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry
from banks.services.agents import create_agent
from banks.services.drafts import AgentDraft
from memories.jobs import JobKind
from memories.models import Job, Message, Session
from memories.rules.settings import Level
from memories.rules.vocabulary import JobState
from memories.search.sessions import list_sessions, read_window
from memories.services.erasingsessions import erase_session
from memories.services.sessions import (
    MessageIdReused,
    SessionLabelled,
    SessionOutOfReach,
    add_messages,
    flush_session,
)
from memories.services.settings import write_setting
from memoryhub.lib.errors import Invalid, NotFound
from memoryhub.lib.sealing import Sealed
from tests.factories import access_of, converse, make_key, operator, part
from tests.racing import together

pytestmark = pytest.mark.django_db
START = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


def numbers(session: Session) -> list[int]:
    return list(session.messages.values_list("number", flat=True))


def waiting(kind: JobKind = JobKind.EXTRACT_SESSION) -> Job:
    return Job.objects.get(kind=kind, state=JobState.PENDING)


def test_turns_are_kept_in_order_and_sealed(access: Access):
    """ENC-02: what was said and the arguments of calls are ciphertext in the row."""
    call = {"id": "c1", "name": "look_up", "arguments": {"city": "Oslo"}}
    session = converse(
        access,
        "s1",
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "What is the weather in Oslo?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Rain.", "tool_name": "look_up", "is_error": False},
        user_id="u1",
    )
    converse(access, "s1", "Thank you.")
    rows = list(session.messages.all())
    assert [row.number for row in rows] == [1, 2, 3, 4, 5]
    assert [row.role for row in rows] == ["system", "human", "ai", "tool", "human"]
    assert (rows[2].tool_calls, rows[2].is_silent, rows[3].tool_call_id) == ([call], True, "c1")
    assert all(isinstance(row.__dict__["content"], Sealed) for row in rows)
    assert isinstance(rows[2].__dict__["tool_calls"], Sealed)
    stored = Session.objects.get(pk=session.pk)
    assert (stored.last_number, stored.extracted_through, stored.unread, stored.user_id) == (5, 0, 5, "u1")
    assert AuditEntry.objects.filter(vault=access.vault, action="add_messages").count() == 2


def test_a_message_sent_twice_is_stored_once(access: Access):
    """TIE-17: a retry after a lost answer changes nothing, and says so."""
    first = {"id": "m1", "role": "human", "content": "I moved to Bergen."}
    converse(access, "s1", first)
    again = add_messages(access, "s1", part(first, {"id": "m2", "role": "ai", "content": "Lovely."}))
    assert [is_new for _, is_new in again.messages] == [False, True]
    assert numbers(again.session) == [1, 2]
    with pytest.raises(MessageIdReused):
        converse(access, "s1", {**first, "content": "I moved to Bodø."})
    assert numbers(converse(access, "s2", first)) == [1]  # another session, another id space


def test_twice_in_one_request_counts_once(access: Access):
    one = {"id": "m1", "role": "human", "content": "Hello."}
    assert numbers(converse(access, "s1", one, one)) == [1]


def test_labels_are_set_once(access: Access):
    session = converse(access, "s1", "One.")
    assert converse(access, "s1", "Two.", user_id="u1").pk == session.pk
    for labels in ({"user_id": "u2"}, {"namespace": ["other"]}):
        with pytest.raises(SessionLabelled):
            converse(access, "s1", "Three.", **labels)
    assert numbers(session) == [1, 2]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "human", "content": "   "},
        {"role": "human", "content": "x", "tool_calls": [{"id": "a", "name": "b"}]},
        {"role": "tool", "content": "x"},
        {"role": "ai", "content": "x", "tool_call_id": "a"},
        {"role": "narrator", "content": "x"},
        {"role": "human", "content": "a\x00b"},
        {"role": "human", "content": "x" * 100_001},
    ],
)
def test_what_is_no_message_is_refused(access: Access, message: dict[str, Any]):
    with pytest.raises(Invalid):
        converse(access, "s1", message)
    assert not Message.objects.exists()


def test_one_message_may_stand_alone():
    assert (
        part("Hello.", user_id="u").messages
        == type(part("x")).parse({"role": "human", "content": "Hello.", "userId": "u"}).messages
    )


def test_times_need_the_scope_import(access: Access):
    writer = access_of(make_key(access, frozenset({KeyScope.SESSIONS}))[1])
    said = {"role": "human", "content": "x", "created_at": "2020-01-01T00:00:00Z"}
    with pytest.raises(MissingScope):
        converse(writer, "s1", said)
    assert converse(access, "s1", said).last_message_at == dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


def test_one_job_waits_for_quiet_but_not_for_ever(access: Access):
    """TIE-10, TIE-16, CON-20: 30 s after the last message, 5 min after the first; only its own traffic moves it."""
    with time_machine.travel(START, tick=False) as clock:
        converse(access, "s1", "One.")
        converse(access, "s2", "Somebody else.")
        job = Job.objects.get(ref__session=str(Session.objects.get(sid="s1").pk))
        assert job.due_at == START + dt.timedelta(seconds=30)
        clock.shift(20)
        converse(access, "s2", "Still somebody else.")
        job.refresh_from_db()
        assert job.due_at == START + dt.timedelta(seconds=30)
        converse(access, "s1", "Two.")
        job.refresh_from_db()
        assert job.due_at == START + dt.timedelta(seconds=50)
        for _ in range(14):
            clock.shift(20)
            converse(access, "s1", "And on.")
        job.refresh_from_db()
        assert job.due_at == START + dt.timedelta(minutes=5)
        assert Job.objects.filter(kind=JobKind.EXTRACT_SESSION).count() == 2
        assert set(job.ref) == {"session"}


def test_the_patience_is_a_setting(access: Access):
    write_setting(access, Level.VAULT, "extraction_debounce_seconds", 5)
    with time_machine.travel(START, tick=False):
        converse(access, "s1", "One.")
        assert waiting().due_at == START + dt.timedelta(seconds=5)
        write_setting(access, Level.VAULT, "extraction_min_items", 4)
        converse(access, "s1", "Two.")
        assert waiting().due_at == START + dt.timedelta(seconds=300)


def test_a_signal_is_read_at_once(access: Access):
    """TIE-11: "remember that" goes first, and small talk after it does not put it off."""
    with time_machine.travel(START, tick=False) as clock:
        converse(access, "s1", "Hello.")
        converse(access, "s1", "Please remember that I am allergic to nuts.")
        clock.shift(1)
        converse(access, "s1", "Anyway.")
        assert waiting().due_at == START


def test_a_job_that_failed_keeps_its_time(access: Access):
    session = converse(access, "s1", "One.")
    later = START + dt.timedelta(days=400)
    Job.objects.filter(ref__session=str(session.pk)).update(attempts=2, due_at=later)
    converse(access, "s1", "Two.")
    assert waiting().due_at == later


def test_flush_makes_the_waiting_job_due(access: Access):
    """TIE-08."""
    with pytest.raises(NotFound):
        flush_session(access, "s1")
    with time_machine.travel(START, tick=False):
        session = converse(access, "s1", "One.", "Two.")
        flushed = flush_session(access, "s1")
        job = waiting()
        assert (flushed.queued, flushed.unread, flushed.job_id) == (True, 2, job.pk)
        assert job.due_at == START
    Session.objects.filter(pk=session.pk).update(extracted_through=2)
    assert not flush_session(access, "s1").queued


def test_a_summary_is_due_after_twenty_messages(access: Access):
    """CON-11, SUM-08: 20 no, 21 yes; 19 long ones yes."""
    converse(access, "s1", *(["Hello."] * 20))
    assert not Job.objects.filter(kind=JobKind.SUMMARIZE_SESSION).exists()
    converse(access, "s1", "Hello.")
    waiting(JobKind.SUMMARIZE_SESSION).delete()
    converse(access, "s2", *(["long words " * 80] * 19))
    assert waiting(JobKind.SUMMARIZE_SESSION).ref == {"session": str(Session.objects.get(sid="s2").pk)}


def test_erasing_leaves_nothing_but_a_receipt(access: Access):
    session = converse(access, "s1", "One.", "Two.")
    Session.objects.filter(pk=session.pk).update(last_number=2)
    receipt = erase_session(access, "s1")
    assert (receipt.kind, receipt.target_id) == ("session", session.pk)
    gone = {
        "sessions": 1,
        "messages": 2,
        "summaries": 0,
        "jobs": 1,
        "kept_answers": 0,
        "model_calls": 0,
        "notes": 0,
        "saved_views": 0,
    }
    assert receipt.removed == gone
    assert not Session.objects.exists()
    assert not Message.objects.exists()
    assert not Job.objects.filter(kind=JobKind.EXTRACT_SESSION).exists()
    assert AuditEntry.objects.filter(action="erase_session", target_id=str(session.pk)).exists()
    with pytest.raises(NotFound):
        erase_session(access, "s1")


def test_an_isolated_agent_has_sessions_of_its_own(access: Access):
    """CON-25, MOD-25: the same name is another conversation, and nobody learns that there are two."""
    create_agent(access, AgentDraft.parse({"name": "hermit", "isolated": True, "default_bank": "Work"}))
    hermit = access_of(make_key(access, agent="hermit")[1])
    shared = converse(access, "s1", "Everybody's.")
    own = converse(hermit, "s1", "Mine.")
    assert own.pk != shared.pk
    assert numbers(own) == [1]
    with pytest.raises(Invalid):
        converse(hermit, "s1", "x", agent_id="somebody")
    assert converse(access, "s1", "More.").pk == shared.pk


def test_banks_of_every_writer_bound_what_is_made_of_it(access: Access):
    limited = access_of(make_key(access, banks=["Work"])[1])
    assert converse(access, "s1", "One.").bank_ids is None
    session = converse(limited, "s2", "Two.")
    assert session.bank_ids == list(limited.bank_ids or ())
    assert converse(access, "s2", "Three.").bank_ids == session.bank_ids


def test_a_key_of_some_banks_hears_no_wider_conversation(access: Access):
    """BNK-02: neither by reading it nor by speaking in it; what it began stays its own to read."""
    wider = access_of(make_key(access, banks=["Work", "Health"])[1])
    limited = access_of(make_key(access, banks=["Work"])[1])
    converse(access, "of all", "The alarm code is 4711.")
    converse(wider, "of two", "The gate code is 4711.")
    own = converse(limited, "own", "Mine.")
    converse(access, "own", "An answer.")
    assert [one.pk for one in list_sessions(limited).items] == [own.pk]
    for sid in ("of all", "of two"):
        with pytest.raises(NotFound):
            read_window(limited, sid)
        with pytest.raises(SessionOutOfReach):
            converse(limited, sid, "Let me in.")
    assert numbers(Session.objects.get(sid="of all")) == [1]
    assert [one.pk for one in list_sessions(wider).items] == [own.pk, Session.objects.get(sid="of two").pk]


@pytest.mark.django_db(transaction=True)
def test_many_writers_number_without_holes(access: Access):
    """One order for everybody, also when all speak at once."""

    def speak() -> None:
        own = operator(access.vault)
        for step in range(5):
            converse(own, "s1", f"and {step}")

    assert together([speak] * 8) == [None] * 8
    session = Session.objects.get(sid="s1")
    assert numbers(session) == list(range(1, 41))
    assert session.last_number == 40
    assert Job.objects.filter(kind=JobKind.EXTRACT_SESSION).count() == 1
