"""Erasing everything about somebody: counted, confirmed, done by a job that can be killed, and nothing of others."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

import pytest
from django.db import connection

from banks.access import Access, Actor
from banks.services.agents import create_agent
from banks.services.drafts import AgentDraft
from memories.jobs import JobKind
from memories.models import ErasureReceipt, Job, Lookup, Memory, Message, SavedView, Session
from memories.rules.filters import SearchQuery
from memories.rules.savedviews import ViewDraft
from memories.rules.vocabulary import AccessPurpose, ErasureKind, JobState
from memories.search.recall import search_memories
from memories.services import erasingsubjects
from memories.services.accesses import flush_accesses, record_accesses
from memories.services.erasingsubjects import (
    ErasureChanged,
    WholeVaultOnly,
    _batches,
    _subject,
    count_subject,
    erase_everything,
)
from memories.services.jobs import JobLost, cancel_job, retry_job
from memories.services.lifecycle import archive_memory
from memories.services.receipts import subject_hash, verify_receipt
from memories.services.running import run_job
from memories.services.savedviews import save_view
from tests.factories import access_of, claimed, converse, make_key, remember

pytestmark = pytest.mark.django_db


def run_erasure(access: Access) -> ErasureReceipt:
    assert run_job(Job.objects.get(vault=access.vault, kind=JobKind.ERASE_SUBJECT).pk)
    return ErasureReceipt.objects.get()


def erase_all(access: Access, kind: ErasureKind, name: str) -> ErasureReceipt:
    erase_everything(access, kind, name, count_subject(access, kind, name).count)
    return run_erasure(access)


def left(access: Access) -> set[str]:
    return {memory.content for memory in Memory.objects.filter(vault=access.vault)}


def test_everything_of_a_user_goes_and_nothing_of_others(access, other_access):
    """DESIGN §1: live, archived, discarded and drafts; conversations; and what was remembered of them unnamed."""
    remember(access, "Bob likes tea.", user_id="bob")
    archive_memory(access, remember(access, "Bob liked coffee.", user_id="bob").pk)
    remember(access, "Perhaps Bob sings.", user_id="bob", status="draft")
    remember(access, "Bob cannot sing.", user_id="bob", status="discard")
    remember(access, "Told by somebody on Tuesday.", session_id="tuesday")
    remember(access, "Told by Ann on Tuesday.", session_id="tuesday", user_id="ann")
    remember(access, "Ann likes Bob.", user_id="ann")
    remember(other_access, "Another Bob.", user_id="bob")
    converse(access, "tuesday", "I sing.", "Badly.", user_id="bob")
    converse(access, "friday", "I dance.", user_id="ann")
    counted = count_subject(access, ErasureKind.USER, "bob")
    assert (counted.memories, counted.sessions, counted.messages, counted.count) == (5, 1, 2, 6)
    receipt = erase_all(access, ErasureKind.USER, "bob")
    assert left(access) == {"Told by Ann on Tuesday.", "Ann likes Bob."}
    assert left(other_access) == {"Another Bob."}
    assert list(Session.objects.values_list("sid", flat=True)) == ["friday"]
    assert {thing: receipt.removed[thing] for thing in ("memories", "sessions", "messages")} == {
        "memories": 5,
        "sessions": 1,
        "messages": 2,
    }
    assert verify_receipt(access, receipt.pk).holds
    job = Job.objects.get(kind=JobKind.ERASE_SUBJECT)
    assert (job.state, job.done, job.total) == (JobState.DONE, 6, 6)


def test_saved_views_that_name_them_go_and_others_stay(access):
    """Filters, conditions, words and what a view is called; also of a conversation of theirs, and whoever saved it."""
    converse(access, "tuesday", "I sing.", user_id="bob")
    ann = replace(access, actor=Actor("user", "7", "Ann"))
    for name, address in (
        ("1", "user_id=bob"),
        ("2", "q=" + quote("user:BOB tea")),
        ("3", "q=" + quote("-user:bob")),
        ("Bob's list", "type=task"),
        ("5", "session_id=tuesday"),
        ("6", "entity=Bob&type=fact"),
        ("7", "q=" + quote('tea "with bob, today"')),
    ):
        save_view(ann, ViewDraft(name=name, address=address, is_shared=True))
    kept = [("user_id=bobby", "8"), ("q=kabob", "9"), ("agent_id=bob", "10"), ("type=task", "11")]
    for address, name in kept:
        save_view(access, ViewDraft(name=name, address=address))
    receipt = erase_all(access, ErasureKind.USER, "bob")
    assert receipt.removed["saved_views"] == 7
    assert {view.name for view in SavedView.objects.all()} == {name for _, name in kept}


def test_the_receipt_names_nobody_and_is_known_to_who_knows_the_name(access):
    """S12: the name is a trace too; it stays as a keyed hash."""
    remember(access, "Bob likes tea.", user_id="bob-the-canary")
    erase_everything(access, ErasureKind.USER, "bob-the-canary", 1)
    assert ErasureReceipt.objects.get().subject == "bob-the-canary"
    receipt = run_erasure(access)
    assert receipt.subject is None
    assert bytes(receipt.subject_hash or b"") == subject_hash(access, ErasureKind.USER, "bob-the-canary")
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT count(*) FROM "{table}" t WHERE t::text LIKE %s', ["%bob-the-canary%"])
            assert cursor.fetchone() == (0,), table


def test_what_an_agent_wrote_said_and_asked_goes(access):
    """DESIGN §1: also its turns in conversations of others, whose summary is made anew, and its questions."""
    robot = access_of(make_key(access)[1])
    memory = remember(access, "The robot knows.", agent_id="r2")
    remember(access, "Somebody else knows.", agent_id="c3")
    converse(access, "own", "Beep.", agent_id="r2")
    shared = converse(access, "shared", "Hello.", "Beep.", agent_id="c3")
    Message.objects.filter(session=shared, number=2).update(agent_id="r2")
    shared.summary = "They said hello and beep."
    shared.save()
    record_accesses(robot, [memory.pk], AccessPurpose.SEARCH, "where is r2?")
    flush_accesses()
    Lookup.objects.update(agent_id="r2")
    receipt = erase_all(access, ErasureKind.AGENT, "r2")
    assert left(access) == {"Somebody else knows."}
    shared.refresh_from_db()
    assert (shared.summary, list(shared.messages.values_list("number", flat=True))) == (None, [1])
    assert not Lookup.objects.exists()
    assert (receipt.removed["messages"], receipt.removed["sessions"]) == (2, 1)


def test_a_session_goes_with_what_was_remembered_of_it(access):
    converse(access, "tuesday", "I sing.")
    remember(access, "Sings.", session_id="tuesday", user_id="bob")
    remember(access, "Dances.", session_id="friday", user_id="bob")
    erase_all(access, ErasureKind.SESSION, "tuesday")
    assert (left(access), Session.objects.count()) == ({"Dances."}, 0)


def test_what_was_not_counted_is_not_erased(access):
    """DESIGN §8: a count that is not the present one changes nothing."""
    remember(access, "Bob likes tea.", user_id="bob")
    with pytest.raises(ErasureChanged) as caught:
        erase_everything(access, ErasureKind.USER, "bob", 0)
    assert caught.value.extra == {"count": 1}
    assert not ErasureReceipt.objects.exists()


def test_what_is_written_after_it_was_asked_for_stays(access):
    """DESIGN §7: the job ends, however busy the subject is."""
    remember(access, "before", user_id="bob")
    erase_everything(access, ErasureKind.USER, "bob", 1)
    remember(access, "after", user_id="bob")
    run_erasure(access)
    assert left(access) == {"after"}


@pytest.mark.parametrize("limit", ["banks", "isolated"])
def test_who_does_not_see_everything_cannot_erase_everything(access, limit):
    """MOD-25: a promise that cannot be kept is not made."""
    if limit == "banks":
        narrow = access_of(make_key(access, banks=["Work"])[1])
    else:
        create_agent(access, AgentDraft.parse({"name": "hermit", "isolated": True, "default_bank": "Work"}))
        narrow = access_of(make_key(access, agent="hermit")[1])
    with pytest.raises(WholeVaultOnly):
        count_subject(narrow, ErasureKind.USER, "bob")


def test_a_cancelled_erasure_goes_on_where_it_stopped(access, monkeypatch):
    """DESIGN §7: every batch is on the receipt when it is gone, and counted once."""
    monkeypatch.setattr(erasingsubjects, "BATCH", 2)
    for number in range(5):
        remember(access, f"number {number}", user_id="bob")
    erase_everything(access, ErasureKind.USER, "bob", 5)
    job = claimed(Job.objects.get(kind=JobKind.ERASE_SUBJECT).pk)
    receipt = ErasureReceipt.objects.get()
    batches = _batches(access, job, _subject(access, ErasureKind.USER, "bob"), receipt)
    assert next(batches) == 2
    cancel_job(access, job.pk)
    with pytest.raises(JobLost):
        next(batches)
    assert (Memory.objects.count(), ErasureReceipt.objects.get().removed["memories"]) == (3, 2)
    assert ErasureReceipt.objects.get().signature is None
    retry_job(access, job.pk)
    receipt = run_erasure(access)
    assert (Memory.objects.count(), receipt.removed["memories"]) == (0, 5)
    assert verify_receipt(access, receipt.pk).holds
    assert search_memories(access, SearchQuery(query="number")).hits == []
