"""The stream of events: complete, in order, resumable, and only what the caller may know."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event as Signal
from uuid import UUID

import pytest
import time_machine
from django.db import connection, transaction

from banks.access import Access, InvalidKey, KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry
from banks.services.agents import create_agent
from banks.services.banks import create_bank, find_bank
from banks.services.drafts import AgentDraft, BankDraft
from banks.services.keys import revoke_key
from memories.events import EventType
from memories.models import Event, Happened, record_events
from memories.rules.bulk import BulkChange
from memories.rules.drafts import MemoryChanges
from memories.rules.settings import Level
from memories.rules.vocabulary import AccessPurpose, Status
from memories.search.events import EventPage, EventQuery, EventsGone, audible, list_events
from memories.search.horizon import Horizon
from memories.search.listening import _awaited, await_events
from memories.search.listening import _places as places
from memories.services.accesses import flush_accesses, record_accesses
from memories.services.bulk import bulk_change
from memories.services.editing import restore_version, update_memory
from memories.services.erasing import erase_memory
from memories.services.eventlog import trim_events
from memories.services.lifecycle import archive_memory, change_status, supersede_memory
from memories.services.settings import write_setting
from memories.services.undoing import undo_changeset
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Invalid
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import gate
from tests.factories import access_of, archive_together, make_key, make_vault, operator, remember

ALL = EventQuery(limit=500)


def heard(access: Access, query: EventQuery = ALL) -> list[tuple[str, str | None]]:
    return [(one.type, one.data.get("memory_id")) for one in list_events(access, query).items]


def start(access: Access) -> str:
    return str(list_events(access, EventQuery(after="now")).next)


def happened(access: Access, name: EventType = EventType.JOB_DONE) -> None:
    record_events(access.vault_id, Happened(name, "job", new_id()))


def test_everything_a_memory_goes_through_is_heard_once_and_in_order(access):
    """EVT-02, EVT-07, CON-27: one event for each change, with ids and versions and nothing anybody said."""
    since = start(access)
    memory, newer = remember(access, "The cat is called Tom."), remember(access, "The dog is called Rex, and barks.")
    update_memory(access, memory.pk, MemoryChanges.parse({"content": "The cat is called Tim."}))
    archive_memory(access, memory.pk)
    archive_memory(access, memory.pk, archived=False)
    restore_version(access, memory.pk, 1)
    draft = remember(access, "A draft to look at.", status="draft")
    change_status(access, draft.pk, Status.ACCEPTED)
    supersede_memory(access, memory.pk, newer.pk)
    erase_memory(access, draft.pk)
    page = list_events(access, EventQuery(after=since, types=("memory.*",)))
    assert [(one.type.removeprefix("memory."), one.data["memory_id"]) for one in page.items] == [
        ("added", str(memory.pk)),
        ("added", str(newer.pk)),
        ("updated", str(memory.pk)),
        ("archived", str(memory.pk)),
        ("restored", str(memory.pk)),
        ("restored", str(memory.pk)),
        ("added", str(draft.pk)),
        ("status_changed", str(draft.pk)),
        ("superseded", str(memory.pk)),
        ("erased", str(draft.pk)),
    ]
    assert [one.id for one in page.items] == sorted(one.id for one in page.items)
    assert "cat" not in repr(page)
    assert page.items[2].data["version"] == 2
    assert not page.more
    assert list_events(access, EventQuery(after=str(page.next))).items == []


def test_what_is_changed_together_is_heard_one_by_one(access):
    """CON-27: a changeset's memories, there and back."""
    since = start(access)
    changeset = archive_together(access, "One.", "Two.")
    undo_changeset(access, changeset.pk)
    names = [name for name, _ in heard(access, EventQuery(after=since, types=("memory.*",)))]
    assert names == ["memory.added"] * 2 + ["memory.archived"] * 2 + ["memory.restored"] * 2


def test_pages_join_without_gap_or_repetition(access):
    """EVT-05: reading in small pages hears the same as reading at once."""
    since = start(access)
    for number in range(7):
        remember(access, f"Number {number} is a number of its own.")
        happened(access)
    whole = list_events(access, EventQuery(after=since, limit=500))
    found, after = [], since
    while True:
        page = list_events(access, EventQuery(after=after, limit=3))
        found += page.items
        after = str(page.next)
        if not page.more:
            break
    assert found == whole.items
    assert len(found) == 14


def test_a_failed_write_is_not_heard(access):
    """EVT-05: what was rolled back never happened."""
    since = start(access)
    with pytest.raises(RuntimeError), transaction.atomic():
        remember(access, "Not to be.")
        raise RuntimeError
    assert heard(access, EventQuery(after=since)) == []


def test_unknown_names_are_refused_with_the_known_ones(access):
    """API-17: a typing error does not silently hear nothing."""
    with pytest.raises(Invalid) as refused:
        audible(access, ["memory.addd"])
    assert "memory.added" in refused.value.errors[0].detail


def test_scopes_decide_what_is_heard(access):
    """DESIGN §6: without a wish only what the scopes allow; a wish for more names the scope."""
    reader = access_of(make_key(access, frozenset({KeyScope.MEMORIES_READ}))[1])
    since = start(access)
    remember(access)
    happened(access)
    assert [name for name, _ in heard(reader, EventQuery(after=since))] == ["memory.added"]
    with pytest.raises(MissingScope, match="ops:read"):
        list_events(reader, EventQuery(types=("job.done",)))


def test_a_key_of_one_bank_hears_of_that_bank_only(access, other_access):
    """MOD-21, DESIGN §6: no id of another bank, another agent or another vault."""
    attic = create_bank(access, BankDraft(name="Attic"))
    clerk = create_agent(access, AgentDraft(name="Clerk"))
    isolated = create_agent(access, AgentDraft(name="Hermit", is_isolated=True))
    limited = access_of(make_key(access, banks=["Attic"])[1])
    hermit = access_of(make_key(access, agent=isolated.name)[1])
    since = start(access)
    remember(other_access, "Somebody else's.")
    here, elsewhere = remember(access, "In the attic.", bank="Attic"), remember(access, "In the general bank.")
    private = remember(access_of(make_key(access, agent=clerk.name)[1]), "Of the clerk.", scope="agent")
    mine = remember(hermit, "Of the hermit.")
    happened(access)
    assert here.bank_id == attic.pk
    heard_by_limited = heard(limited, EventQuery(after=since))
    assert (EventType.MEMORY_ADDED, str(here.pk)) in heard_by_limited
    told = {str(private.pk), str(elsewhere.pk), str(mine.pk)}
    assert not told & {memory for _, memory in heard_by_limited}
    assert {memory for _, memory in heard(hermit, EventQuery(after=since)) if memory} == {str(mine.pk)}
    erase_memory(access, here.pk)
    erase_memory(access, elsewhere.pk)
    gone = EventQuery(after=since, types=("memory.erased",))
    assert heard(limited, gone) == [("memory.erased", str(here.pk))]
    assert heard(hermit, gone) == []
    assert len(heard(access, gone)) == 2


@pytest.mark.parametrize("together", [False, True])
def test_a_listener_of_one_bank_hears_that_a_memory_left_it(access, together):
    """Issue: a copy kept by events does not keep what was taken away; no id of the bank it went to is told."""
    attic, work = create_bank(access, BankDraft(name="Attic")), find_bank(access, "Work")
    limited, other = (access_of(make_key(access, banks=[name])[1]) for name in ("Attic", "Work"))
    memory = remember(access, "In the attic.", bank="Attic")
    since = start(access)
    if together:
        bulk_change(access, BulkChange.parse({"action": "move_bank", "ids": [str(memory.pk)], "bank": "Work"}))
    else:
        update_memory(access, memory.pk, MemoryChanges.parse({"bank": "Work"}))
    erase_memory(access, memory.pk)

    def told(who: Access) -> list[dict[str, object]]:
        page = list_events(who, EventQuery(after=since, types=("memory.*",)))
        return [
            {name: one.data.get(name) for name in ("bank_id", "left_bank_id")} | {"type": one.type}
            for one in page.items
        ]

    went, gone = {"type": "memory.updated"}, {"type": "memory.erased", "bank_id": str(work.pk), "left_bank_id": None}
    assert told(limited) == [{**went, "bank_id": None, "left_bank_id": str(attic.pk)}]
    assert told(other) == [{**went, "bank_id": str(work.pk), "left_bank_id": None}, gone]
    assert told(access) == [{**went, "bank_id": str(work.pk), "left_bank_id": str(attic.pk)}, gone]
    earlier = heard(limited, EventQuery(types=("memory.added",)))
    assert earlier == [("memory.added", str(memory.pk))], "what was heard once is still heard"
    assert heard(other, EventQuery(types=("memory.added",))) == []


def test_an_expired_place_says_what_to_do(access):
    """EVT: whoever was away too long is told, instead of missing something without knowing."""
    remember(access, "Of old.")
    early = str(AuditEntry.objects.filter(vault=access.vault).earliest("id").pk - 1)
    with time_machine.travel(now() + dt.timedelta(days=31), tick=False):
        with pytest.raises(EventsGone, match="after=now"):
            list_events(access, EventQuery(after=early))
        assert heard(access) == []
        remember(access, "Of today.")
        assert len(heard(access)) == 1
    with pytest.raises(EventsGone, match="earlier state"):
        list_events(access, EventQuery(after="999999999999"))


def test_without_a_place_the_oldest_kept_comes_first(access):
    """EVT: the stream begins where the setting says."""
    remember(access, "Of old.")
    with time_machine.travel(now() + dt.timedelta(days=5), tick=False):
        write_setting(access, Level.VAULT, "events_days", 3)
        remember(access, "Of today.")
        assert len(heard(access, EventQuery(types=("memory.added",)))) == 1


def test_old_events_are_forgotten_but_one_that_marks_the_place(access):
    """EVT: what the setting does not keep goes; the audit stays."""
    for _ in range(3):
        happened(access)
    early = str(Event.objects.filter(vault=access.vault).earliest("id").pk)
    with time_machine.travel(now() + dt.timedelta(days=31), tick=False):
        happened(access)
        assert trim_events() == 2
        assert trim_events() == 0
        assert Event.objects.filter(vault=access.vault).count() == 2
        with pytest.raises(EventsGone):
            list_events(access, EventQuery(after=early))


@contextmanager
def uncommitted(vault_id: UUID) -> Iterator[Signal]:
    """Another connection that has written an event and not committed yet; set the signal to let it commit."""
    written, release = Signal(), Signal()

    def write() -> None:
        try:
            with transaction.atomic():
                record_events(vault_id, Happened(EventType.JOB_DONE, "job", new_id()))
                written.set()
                release.wait(20)
        finally:
            connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    assert written.wait(20)
    try:
        yield release
    finally:
        release.set()
        thread.join()


@pytest.mark.django_db(transaction=True)
def test_a_number_committed_later_is_not_skipped():
    """EVT-05: the lower number of a slow transaction is still to come, so nothing above it is shown before it."""
    access = operator(make_vault("Home"))
    since = start(access)
    with uncommitted(access.vault_id) as release:
        happened(access)  # drawn later, committed first
        page = list_events(access, EventQuery(after=since))
        assert page.items == []
        assert page.next == int(since)
        release.set()
        deadline = time.monotonic() + 60
        while not (page := list_events(access, EventQuery(after=str(page.next)))).items:
            assert time.monotonic() < deadline
    assert len(page.items) == 2


@pytest.mark.django_db(transaction=True)
def test_writers_that_never_rest_hold_nothing_up():
    """EVT-05: a place is complete when those who wrote at that moment are done, whoever began since."""
    access = operator(make_vault("Home"))
    fresh = Horizon()
    with uncommitted(access.vault_id) as first:
        drawn = fresh.look().drawn
        with uncommitted(access.vault_id) as second:
            assert fresh.look().complete < drawn
            first.set()
            deadline = time.monotonic() + 60
            while fresh.look().complete < drawn:
                assert time.monotonic() < deadline
            assert fresh.look().complete < fresh.look().drawn
            second.set()


@pytest.mark.django_db(transaction=True)
def test_a_listener_hears_soon_after_the_commit():
    """At most half a second from commit to answer, the best of a few; the bench has many."""
    access = operator(make_vault("Home"))
    lags = []
    for _ in range(5):
        with heard_by_a_listener(access, start(access)) as found:
            happened(access)
            committed = time.monotonic()
        lags.append(found[0] - committed)
    assert min(lags) < 0.5
    assert max(lags) < 10


@contextmanager
def heard_by_a_listener(access: Access, since: str) -> Iterator[list[float]]:
    """When somebody who waits in a thread of their own was answered; they wait already in the block."""
    found: list[float] = []

    def listen() -> None:
        try:
            with gate.session():
                page = await_events(access, EventQuery(after=since), 10)
            found.append(time.monotonic())
            assert len(page.items) == 1
        finally:
            connection.close()

    free = places._value
    thread = threading.Thread(target=listen)
    thread.start()
    pause, deadline = Signal(), time.monotonic() + 60
    while places._value == free:
        assert time.monotonic() < deadline
        pause.wait(0.01)
    yield found
    thread.join()
    assert len(found) == 1


@pytest.mark.django_db(transaction=True)
def test_only_so_many_wait_and_the_rest_are_answered_at_once():
    """DESIGN §2: half of the web's threads always serve."""
    access = operator(make_vault("Home"))
    since = start(access)
    taken = 0
    while places.acquire(blocking=False):
        taken += 1
    try:
        began = time.monotonic()
        assert await_events(access, EventQuery(after=since), 60).items == []
        assert time.monotonic() - began < 30
    finally:
        for _ in range(taken):
            places.release()
    assert taken >= 1


def test_names_of_changesets_are_told(access):
    """CON-27: a listener can ask for the whole changeset."""
    since = start(access)
    changeset = archive_together(access, "One.")
    page = list_events(access, EventQuery(after=since, types=("memory.archived",)))
    assert page.items[0].data["changeset_id"] == str(changeset.pk)


def test_a_search_is_heard_with_what_it_gave_out(access):
    """EVT-02: who asked and which memories, never the question; what was erased is not named any more."""
    flush_accesses()
    since = start(access)
    kept, gone = remember(access, "The cat is called Tom."), remember(access, "The dog is called Rex.")
    record_accesses(access, [kept.pk, gone.pk], AccessPurpose.SEARCH, "what are they called?")
    record_accesses(access, [kept.pk], AccessPurpose.READ)
    flush_accesses()
    searched = EventQuery(after=since, types=("memory.searched",))
    (event,) = list_events(access, searched).items
    assert event.data["memory_ids"] == [str(kept.pk), str(gone.pk)]
    assert "called" not in repr(event)
    erase_memory(access, gone.pk)
    (event,) = list_events(access, searched).items
    assert event.data["memory_ids"] == [str(kept.pk)]


@pytest.mark.django_db(transaction=True)
def test_a_key_revoked_while_it_waits_hears_nothing_more():
    """Revocation counts at once, also for an answer that is still to come."""
    owner = operator(make_vault("Home"))
    key, secret = make_key(owner)
    waiting = access_of(secret)
    since = start(owner)
    revoke_key(owner, key.pk)
    happened(owner)
    with pytest.raises(InvalidKey):
        _awaited(waiting, EventQuery(after=since), EventPage([], int(since), more=False), time.monotonic() + 5)
