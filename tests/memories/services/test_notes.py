"""Daily notes: appended by flush, once, with what a line came from; gone with it (TIE-01, TIE-03, TIE-08, TIE-20)."""

from __future__ import annotations

import datetime as dt

import pytest

from banks.access import Access
from memories.models import DailyNote, Job, Memory, NoteLine
from memories.rules.settings import Level
from memories.rules.vocabulary import NoteKind
from memories.search.notes import list_daily_notes, list_namespaces, read_daily_note
from memories.services.erasingsessions import erase_session
from memories.services.notes import forget_notes
from memories.services.running import run_job
from memories.services.sessions import flush_session
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from memoryhub.lib.errors import NotFound
from tests.factories import converse, day_of

pytestmark = pytest.mark.django_db

TODAY = now().date()


def read(access: Access, sid: str) -> None:
    """Flush, and run the job as a worker would."""
    job_id = flush_session(access, sid).job_id
    assert job_id is not None
    run_job(job_id)


def lines(access: Access, date: dt.date, namespace: tuple[str, ...] = ("default",)) -> list[tuple[str, str]]:
    return [(line.kind, line.text) for line in read_daily_note(access, date, namespace).lines]


def test_a_flush_notes_what_was_found(access: Access):
    """TIE-03, TIE-08: in the note of the day, with the memory and the conversation it came from."""
    session = converse(access, "kitchen", "I live in Leeds and I work as a nurse.", user_id="u1")
    read(access, "kitchen")
    date = day_of(session)
    assert lines(access, date) == [("new", "The user lives in Leeds."), ("new", "The user works as a nurse.")]
    noted = list(NoteLine.objects.order_by("pk"))
    assert [line.memory_ids for line in noted] == [[memory.pk] for memory in Memory.objects.order_by("pk")]
    assert {line.session_id for line in noted} == {session.pk}
    assert read_daily_note(access, date).sessions == {session.pk: "kitchen"}
    assert [(day.date, day.lines) for day in list_daily_notes(access)] == [(date, 2)]


def test_a_repeated_flush_notes_nothing_twice(access: Access):
    """TIE-07, TIE-08: what was read is noted; a job that runs again finds nothing."""
    converse(access, "s1", "I live in Leeds.")
    read(access, "s1")
    assert not flush_session(access, "s1").queued
    run_job(Job.objects.get(kind="extract_session").pk)
    assert NoteLine.objects.count() == 1


def test_said_again_and_otherwise(access: Access):
    """TIE-04: a person reads what is new, what came back, and what replaced something."""
    day = dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC)
    for hour, said in enumerate(["I live in Leeds.", "I live in Leeds!", "I live in York."]):
        at = (day + dt.timedelta(hours=hour)).isoformat()
        converse(access, f"s{hour}", {"role": "human", "content": said, "created_at": at})
        read(access, f"s{hour}")
    assert lines(access, day.date()) == [
        ("new", "The user lives in Leeds."),
        ("again", "The user lives in Leeds."),
        ("renewed", "The user lives in York."),
    ]


def test_a_preference_saved_at_once_is_noted_once(access: Access):
    """OPT-06: it is not read again, and would be missing from the note otherwise."""
    session = converse(access, "s1", "I love pizza.")
    date = day_of(session)
    assert lines(access, date) == [("new", "The user loves pizza.")]
    read(access, "s1")
    assert len(lines(access, date)) == 1


def test_two_namespaces_never_mix(access: Access):
    """TIE-20, GEN-08: a note belongs to one namespace, as its conversation does."""
    date = day_of(converse(access, "s1", "I live in Leeds.", namespace=["home"]))
    converse(access, "s2", "I live in York.", namespace=["home", "garden"])
    read(access, "s1")
    read(access, "s2")
    assert lines(access, date, ("home",)) == [("new", "The user lives in Leeds.")]
    assert lines(access, date, ("home", "garden")) == [("new", "The user lives in York.")]
    assert list_daily_notes(access) == []
    assert list_namespaces(access) == [["home"], ["home", "garden"]]
    with pytest.raises(NotFound):
        read_daily_note(access, date)


def test_a_note_is_bounded(access: Access):
    """TIE-03: what does not fit is counted and remembered all the same."""
    write_setting(access, Level.VAULT, "daily_max_lines", 1)
    converse(access, "s1", "I live in Leeds. I work as a nurse. I am allergic to nuts.")
    read(access, "s1")
    note = DailyNote.objects.get()
    assert (note.line_count, note.left_out, Memory.objects.count()) == (1, 2, 3)


def test_the_bar_is_a_setting(access: Access):
    """TIE-02: what a vault finds too unimportant is remembered and not noted."""
    write_setting(access, Level.VAULT, "daily_min_importance", 5)
    converse(access, "s1", "I live in Leeds. I play the piano.")
    read(access, "s1")
    assert [line.text for line in NoteLine.objects.all()] == ["The user lives in Leeds."]
    assert Memory.objects.count() == 2


def test_a_summary_is_noted_in_place_of_the_one_before(access: Access):
    """TIE-03: a day holds one of each conversation, the newest; it came from the conversation alone."""
    for part in range(3):
        session = converse(access, "s1", *(f"We spoke about the garden shed, part {part}.{each}" for each in range(20)))
        for job in Job.objects.filter(kind="summarize_session", state="pending"):
            run_job(job.pk)
    session.refresh_from_db()
    summary = NoteLine.objects.get(kind=NoteKind.SUMMARY)
    assert (summary.text, summary.memory_ids) == (session.summary, [])
    erase_session(access, "s1")
    assert not NoteLine.objects.filter(kind=NoteKind.SUMMARY).exists()


def test_erasing_forgets_the_line(access: Access):
    """Of one memory its line, of a conversation all of its lines; an empty note goes."""
    session = converse(access, "s1", "I live in Leeds and I work as a nurse.")
    read(access, "s1")
    home = Memory.objects.get(fact_key="home")
    assert forget_notes(access, [home.pk]) == 1
    assert [line.text for line in NoteLine.objects.all()] == ["The user works as a nurse."]
    assert DailyNote.objects.get().line_count == 1
    assert forget_notes(access, [], [session.pk]) == 1
    assert not DailyNote.objects.exists()
    assert forget_notes(access, [home.pk], [session.pk]) == 0
