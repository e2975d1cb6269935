"""What was given out is counted and logged beside the requests, and never in their way."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from time import perf_counter

import pytest
import time_machine
from django.db import connection, transaction

from banks.access import Access
from memories.models import Lookup, Memory, MemoryAccess
from memories.rules.drafts import MemoryChanges
from memories.rules.settings import Level
from memories.rules.vocabulary import AccessPurpose
from memories.search.accesses import list_accesses, question_of
from memories.services.accesses import (
    WAITING,
    flush_accesses,
    record_accesses,
    start_recording,
    trim_access_log,
)
from memories.services.accesses import _backlog as backlog
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from memoryhub.lib.metrics import ACCESSES_LOST
from tests.factories import access_of, make_key, make_vault, operator, remember
from tests.racing import together

MINUTE = dt.timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _nothing_waits(db: None) -> None:
    """Notes of earlier tests are of vaults that are gone."""
    flush_accesses()


def given(access: Access, *memories: Memory, query: str | None = "where?", scores: tuple[float, ...] = ()) -> None:
    purpose = AccessPurpose.SEARCH if query else AccessPurpose.READ
    record_accesses(access, [memory.pk for memory in memories], purpose, query, scores)
    flush_accesses()


def log_of(access: Access, memory: Memory) -> list[tuple[str | None, int | None]]:
    return [(question_of(access, entry), entry.rank) for entry in list_accesses(access, memory.pk).items]


def test_being_given_out_is_counted_and_is_no_change(access):
    """PRN-07, MOD-36: last_accessed_at and the count, once a minute; version and updated_at stay."""
    memory = remember(access)
    before = Memory.objects.get(pk=memory.pk)
    assert (before.last_accessed_at, before.access_count) == (None, 0)
    started = now()
    for minute in (0, 0, 1):
        with time_machine.travel(started + minute * MINUTE, tick=False):
            given(access, memory, query=f"asked in minute {minute}")
    after = Memory.objects.get(pk=memory.pk)
    assert (after.last_accessed_at, after.access_count) == (started + MINUTE, 2)
    assert (after.version, after.updated_at) == (before.version, before.updated_at)


def test_the_log_says_who_was_given_it_for_what(access):
    """Ranks from 1 and scores; the same question asked in a loop is one line a minute."""
    first, second = remember(access, "The first."), remember(access, "The second.")
    for _ in range(3):
        record_accesses(access, [first.pk, second.pk], AccessPurpose.SEARCH, "which one?", [0.75, 0.5])
        flush_accesses()
    given(access, second, query=None)
    assert log_of(access, first) == [("which one?", 1)]
    assert log_of(access, second) == [(None, None), ("which one?", 2)]
    newest, older = list_accesses(access, second.pk).items
    assert (newest.lookup.purpose, older.lookup.purpose, older.score) == ("read", "search", 0.5)
    assert older.lookup.actor_kind == access.actor.kind


def test_pages_of_the_log(access):
    memory = remember(access)
    for number in range(5):
        given(access, memory, query=f"question {number}")
    page = list_accesses(access, memory.pk, limit=3)
    rest = list_accesses(access, memory.pk, limit=3, cursor=page.next_cursor)
    assert [question_of(access, entry) for entry in (*page.items, *rest.items)] == [
        f"question {number}" for number in (4, 3, 2, 1, 0)
    ]
    assert rest.next_cursor is None


def test_a_limited_caller_learns_its_own_questions_only(access):
    """S2: a question can tell what lies in banks the caller may not see."""
    memory = remember(access, "Shared.", bank="Work")
    limited = access_of(make_key(access, banks=["Work"])[1])
    given(access, memory, query="secret of another bank")
    given(limited, memory, query="its own")
    assert log_of(limited, memory) == [("its own", 1), (None, 1)]
    assert log_of(access, memory) == [("its own", 1), ("secret of another bank", 1)]


def test_the_question_is_sealed(access):
    """ENC-02, ENC-03."""
    given(access, remember(access), query="pistachio")
    with connection.cursor() as cursor:
        cursor.execute("SELECT encode(query, 'escape') FROM memories_lookup")
        (sealed,) = cursor.fetchone()
    assert sealed
    assert "pistachio" not in sealed


def test_a_note_about_another_vaults_memory_changes_nothing_there(access, other_access):
    """S2, MOD-31: the vault of the caller is part of every statement."""
    theirs = remember(other_access)
    given(access, theirs)
    assert Memory.objects.get(pk=theirs.pk).access_count == 0
    assert (MemoryAccess.objects.count(), Lookup.objects.count()) == (0, 0)


def test_erasing_forgets_the_log_and_the_questions(access):
    """ENC-18: the other memory's line stays, without the question that was about both."""
    erased, kept = remember(access, "My code is 4711."), remember(access, "Kept.")
    given(access, erased, kept, query="is my code 4711?")
    assert erase_memory(access, erased.pk).removed["accesses"] == 1
    assert log_of(access, kept) == [(None, 2)]
    assert not MemoryAccess.objects.filter(memory_id=erased.pk).exists()


def test_a_question_that_waits_while_its_memory_is_erased_is_not_kept(access):
    erased, kept = remember(access, "My code is 4711."), remember(access, "Kept.")
    record_accesses(access, [erased.pk, kept.pk], AccessPurpose.SEARCH, "is my code 4711?")
    erase_memory(access, erased.pk)
    flush_accesses()
    assert log_of(access, kept) == [(None, 2)]


def test_only_the_newest_entries_are_kept(access):
    write_setting(access, Level.VAULT, "access_log_entries", 2)
    often, once = remember(access, "Often."), remember(access, "Once.")
    given(access, once, often, query="question 0")
    for number in range(1, 4):
        given(access, often, query=f"question {number}")
    assert log_of(access, often) == [("question 3", 1), ("question 2", 1)]
    assert log_of(access, once) == [("question 0", 1)]


def test_old_entries_go_with_the_sweep(access, other_access):
    """Each vault keeps its log as long as it says."""
    write_setting(other_access, Level.VAULT, "access_log_days", 60)
    mine, theirs = remember(access), remember(other_access)
    with time_machine.travel(now() - dt.timedelta(days=40), tick=False):
        given(access, mine, query="long ago")
        given(other_access, theirs, query="long ago")
    given(access, mine, query="just now")
    assert trim_access_log() == 1
    assert log_of(access, mine) == [("just now", 1)]
    assert log_of(other_access, theirs) == [("long ago", 1)]


def test_a_vault_may_keep_no_log_and_still_counts(access):
    write_setting(access, Level.VAULT, "access_log_days", 0)
    memory = remember(access)
    given(access, memory)
    assert Lookup.objects.count() == 0
    assert Memory.objects.get(pk=memory.pk).access_count == 1


def test_more_notes_than_fit_cost_the_oldest_and_are_counted(access):
    memory = remember(access)
    lost = ACCESSES_LOST.labels("overflow")._value.get()
    for number in range(WAITING + 2):
        record_accesses(access, [memory.pk], AccessPurpose.SEARCH, f"question {number}")
    assert ACCESSES_LOST.labels("overflow")._value.get() == lost + 2
    backlog._items.clear()


def test_noting_costs_a_request_next_to_nothing(access):
    """The whole of what a request waits for: ≤ 0.2 ms for the 200 ids a search may return, whoever else is busy."""
    ids, scores = [remember(access).pk] * 200, [0.5] * 200
    took = []
    for number in range(100):
        started = perf_counter()
        record_accesses(access, ids, AccessPurpose.SEARCH, f"question {number}", scores)
        took.append(perf_counter() - started)
    backlog._items.clear()
    assert min(took) < 0.0002


@pytest.mark.django_db(transaction=True)
class TestBesideOthers:
    """With connections and threads of their own."""

    @pytest.fixture
    def access(self) -> Access:
        return operator(make_vault("Busy"))

    @pytest.fixture
    def recording(self) -> Iterator[None]:
        """As in a web process."""
        start_recording()
        yield
        backlog.stop()
        backlog._ending.clear()
        backlog._thread = None

    def test_the_last_notes_are_written_when_the_process_ends(self, access, recording):
        memory = remember(access)
        record_accesses(access, [memory.pk], AccessPurpose.SEARCH, "last words")
        backlog.stop()
        assert Memory.objects.get(pk=memory.pk).access_count == 1
        assert log_of(access, memory) == [("last words", 1)]

    def test_a_locked_memory_is_passed_over(self, access):
        """Nobody waits for statistics, and they wait for nobody."""
        locked, free = remember(access, "Locked."), remember(access, "Free.")
        record_accesses(access, [locked.pk, free.pk], AccessPurpose.SEARCH, "both?")
        with transaction.atomic():
            Memory.objects.select_for_update(no_key=True).get(pk=locked.pk)
            assert together([flush_accesses]) == [None]
        counts = dict(Memory.objects.values_list("pk", "access_count"))
        assert counts == {locked.pk: 0, free.pk: 1}
        assert log_of(access, locked) == [("both?", 1)]

    def test_what_an_editor_writes_meanwhile_stays(self, access):
        memory = remember(access)
        record_accesses(access, [memory.pk], AccessPurpose.SEARCH, "where?")
        edited = update_memory(access, memory.pk, MemoryChanges.parse({"content": "Edited."}))
        flush_accesses()
        found = Memory.objects.get(pk=memory.pk)
        assert (found.content, found.version, found.access_count) == ("Edited.", edited.version, 1)
