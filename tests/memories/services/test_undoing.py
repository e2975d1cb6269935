"""Undo of a changeset: whole, one by one, and what it leaves alone."""

from __future__ import annotations

import datetime as dt

import pytest
import time_machine
from django.db import transaction

from banks.access import Access, KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry
from memories.jobs import JobKind
from memories.models import Changeset, ChangesetItem, Job, Link, Memory, Revision
from memories.rules.bulk import BulkChange
from memories.rules.drafts import MemoryChanges
from memories.rules.undoing import AT_ONCE, Refusal
from memories.services.archiving import archive_many
from memories.services.bulk import bulk_change
from memories.services.changesets import (
    Moved,
    count_items,
    get_changeset,
    list_changesets,
    list_items,
    open_changeset,
    record_items,
)
from memories.services.context import WriteContext
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.jobs import claim_job
from memories.services.lifecycle import archive_memory
from memories.services.revising import DuplicateContent
from memories.services.running import run_job
from memories.services.undoing import ChangesetUndone, UndoExpired, undo_changes, undo_changeset
from memories.services.writing import write_batch
from memoryhub.lib.errors import Invalid, NotFound
from tests.factories import access_of, archive_together, draft, make_key, remember

pytestmark = pytest.mark.django_db

TEXTS = ("The heron nests by the lake.", "Boilers are serviced in May.", "The cello is at the luthier's.")


def live(changeset: Changeset) -> set[str]:
    rows = Memory.objects.live().filter(pk__in=changeset.items.values("memory_id"))
    return {memory.content for memory in rows}


def test_all_of_it_comes_back_as_new_versions(access: Access) -> None:
    """PRN-14, CON-17, MIG-13: as it was, explained, with the detour in its history."""
    changeset = archive_together(access, *TEXTS)
    assert (changeset.items.count(), live(changeset)) == (3, set())
    assert {row.archived_reason for row in Memory.objects.all()} == {"tidying up"}

    report = undo_changeset(access, changeset.pk)
    assert (report.undone, report.is_clean, report.job) == (3, True, None)
    assert live(changeset) == set(TEXTS)
    memory = Memory.objects.first()
    assert memory is not None
    assert (memory.version, memory.archived_reason) == (3, None)
    history = list(Revision.objects.filter(memory=memory).order_by("version").values_list("version", "action"))
    assert history == [(1, "archive_memories"), (2, "undo_changeset")]
    assert AuditEntry.objects.filter(action="undo_changeset", changeset_id=changeset.pk).count() == 3
    changeset = get_changeset(access, changeset.pk)
    assert (changeset.state, changeset.count, count_items(access, changeset)) == ("undone", 3, {"undone": 3})
    with pytest.raises(ChangesetUndone):
        undo_changeset(access, changeset.pk)


def test_one_by_one(access: Access) -> None:
    changeset = archive_together(access, *TEXTS)
    one, *others = changeset.items.order_by("memory_id").values_list("memory_id", flat=True)
    assert undo_changeset(access, changeset.pk, [one]).undone == 1
    assert undo_changeset(access, changeset.pk, [one]).undone == 0
    assert get_changeset(access, changeset.pk).state == "partial"
    assert undo_changeset(access, changeset.pk).undone == len(others)
    assert get_changeset(access, changeset.pk).state == "undone"
    with pytest.raises(Invalid):
        undo_changeset(access, archive_together(access, "x").pk, [one] * (AT_ONCE + 1))


def test_what_was_edited_since_is_listed_and_left_alone(access: Access) -> None:
    """MOD-47."""
    changeset = archive_together(access, *TEXTS)
    edited = changeset.items.order_by("memory_id")[0].memory_id
    update_memory(access, edited, MemoryChanges.parse({"importance": 5}))
    report = undo_changeset(access, changeset.pk)
    assert (report.undone, report.changed_since, report.blocked) == (2, [edited], {})
    assert Memory.objects.get(pk=edited).importance == 5
    changeset = get_changeset(access, changeset.pk)
    assert (changeset.state, count_items(access, changeset)) == ("partial", {"undone": 2, "changed_since": 1})
    refused = list_items(access, changeset.pk, refused=Refusal.CHANGED_SINCE)
    assert [item.memory_id for item in refused.items] == [edited]


def test_whose_place_was_taken_stays_archived_and_the_others_come_back(access: Access) -> None:
    """DEF-15: an undo lists what would stand twice."""
    changeset = archive_together(access, *TEXTS)
    again = remember(access, TEXTS[1])
    taken = Memory.objects.exclude(archived_at=None).get(content_hash=again.content_hash).pk
    report = undo_changeset(access, changeset.pk)
    assert (report.undone, report.blocked) == (2, {taken: Refusal.DUPLICATE_CONTENT})
    archive_memory(access, again.pk)
    assert undo_changeset(access, changeset.pk).undone == 1
    assert get_changeset(access, changeset.pk).state == "undone"


def test_of_two_that_want_one_place_one_gets_it(access: Access) -> None:
    first = remember(access, TEXTS[0])
    archive_memory(access, first.pk)
    second = remember(access, TEXTS[0])
    with transaction.atomic():
        changeset = open_changeset(access, "archive_memories")
        archive_many(WriteContext.of(access), [second], changeset, "")
    archive_memory(access, first.pk, archived=False)
    assert undo_changeset(access, changeset.pk).blocked == {second.pk: Refusal.DUPLICATE_CONTENT}


def test_replacements_are_taken_back_with_their_links(access: Access) -> None:
    """SUP-03, SUP-07: superseded_by and the link stand and fall together."""
    old, new = remember(access, TEXTS[0]), remember(access, TEXTS[1])
    with transaction.atomic():
        changeset = open_changeset(access, "archive_memories")
        archive_many(WriteContext.of(access), [old], changeset, "twin", {old.pk: new.pk})
    assert Memory.objects.get(pk=old.pk).superseded_by_id == new.pk
    assert Link.objects.get().target_id == old.pk
    undo_changeset(access, changeset.pk)
    assert Memory.objects.get(pk=old.pk).superseded_by_id is None
    assert not Link.objects.exists()


def test_what_it_created_is_archived_and_makes_room(access: Access) -> None:
    """A summary with the words of one of its sources does not keep that source from coming back."""
    source = remember(access, TEXTS[0])
    with transaction.atomic():
        changeset = open_changeset(access, "summarize_memories")
        archive_many(WriteContext.of(access), [source], changeset, "summarised")
        summary = remember(access, TEXTS[0])
        record_items(changeset, [Moved(summary.pk, 0, summary.version)])
    assert undo_changeset(access, changeset.pk).undone == 2
    assert [row.pk for row in Memory.objects.live()] == [source.pk]
    assert Memory.objects.get(pk=summary.pk).archived_reason == "undone"


def test_content_comes_back_too(access: Access) -> None:
    """What was edited in a changeset says again what it said, and is found by it."""
    memory = remember(access, TEXTS[0])
    update_memory(access, memory.pk, MemoryChanges.parse({"content": "Something else."}))
    changeset = open_changeset(access, "rewrite_memories")
    record_items(changeset, [Moved(memory.pk, 1, 2)])
    assert undo_changeset(access, changeset.pk).undone == 1
    assert Memory.objects.get(pk=memory.pk).content == TEXTS[0]
    with pytest.raises(DuplicateContent):
        update_memory(access, remember(access, "Third.").pk, MemoryChanges.parse({"content": TEXTS[0]}))


def test_tags_and_archive_are_taken_back_in_turn(access: Access) -> None:
    """Undoing the last of two changes makes the first one undoable again."""
    memory = remember(access, "one")
    tagged = bulk_change(access, BulkChange.parse({"action": "add_tags", "tags": ["x"], "ids": [str(memory.pk)]}))
    gone = bulk_change(access, BulkChange.parse({"action": "archive", "ids": [str(memory.pk)]}))
    assert tagged.changeset is not None and gone.changeset is not None
    assert undo_changeset(access, tagged.changeset.pk).changed_since == [memory.pk]
    assert undo_changeset(access, gone.changeset.pk).undone == 1
    assert undo_changeset(access, tagged.changeset.pk).undone == 1
    memory.refresh_from_db()
    assert (memory.tags, memory.archived) == ([], False)


def test_what_is_added_after_an_undo_can_be_undone_too(access: Access) -> None:
    """No job that fills a changeset in parts is cut off from its undo."""
    changeset = archive_together(access, "first")
    assert undo_changeset(access, changeset.pk).undone == 1
    later = remember(access, "second")
    with transaction.atomic():
        archive_many(WriteContext.of(access), [later], changeset, "later")
    assert undo_changeset(access, changeset.pk).undone == 1
    assert live(changeset) == {"first", "second"}


def test_erased_memories_are_no_longer_part_of_it(access: Access) -> None:
    changeset = archive_together(access, *TEXTS)
    gone = changeset.items.order_by("memory_id")[0].memory_id
    erase_memory(access, gone)
    assert undo_changeset(access, changeset.pk).undone == 2
    assert get_changeset(access, changeset.pk).state == "undone"


def test_it_ends_after_the_days_of_the_setting(access: Access) -> None:
    changeset = archive_together(access, *TEXTS)
    with time_machine.travel(changeset.created_at + dt.timedelta(days=30, seconds=1)), pytest.raises(UndoExpired):
        undo_changeset(access, changeset.pk)
    with time_machine.travel(changeset.created_at + dt.timedelta(days=29)):
        assert undo_changeset(access, changeset.pk).undone == 3


def test_a_caller_undoes_only_what_it_may_see(access: Access) -> None:
    """BNK-02: a key limited to a bank neither sees nor moves the rest."""
    other = remember(access, TEXTS[2], bank="Health")
    with transaction.atomic():
        changeset = open_changeset(access, "archive_memories")
        archive_many(WriteContext.of(access), [remember(access, TEXTS[0]), other], changeset, "")
    health = access_of(make_key(access, banks=["Health"])[1])
    work = access_of(make_key(access, banks=["Work"])[1])
    assert [item.memory_id for item in list_items(health, changeset.pk).items] == [other.pk]
    assert list_changesets(work).items == []
    with pytest.raises(NotFound):
        undo_changeset(work, changeset.pk)
    assert undo_changeset(health, changeset.pk).undone == 1
    assert get_changeset(access, changeset.pk).state == "partial"


def test_it_needs_its_scope(access: Access) -> None:
    changeset = archive_together(access, *TEXTS)
    reader = access_of(make_key(access, frozenset({KeyScope.MEMORIES_READ}))[1])
    with pytest.raises(MissingScope):
        undo_changeset(reader, changeset.pk)


def test_pages_of_changesets(access: Access) -> None:
    made = [archive_together(access, text) for text in TEXTS]
    first = list_changesets(access, 2)
    rest = list_changesets(access, 2, first.next_cursor)
    assert [one.pk for one in first.items + rest.items] == [one.pk for one in reversed(made)]
    assert rest.next_cursor is None


@pytest.fixture
def many(access: Access) -> Changeset:
    """More than is undone at once."""
    write_batch(access, [draft(f"Locker {n} is free.", dedup=False) for n in range(AT_ONCE)])
    write_batch(access, [draft(f"Shelf {n} is free.", dedup=False) for n in range(20)])
    with transaction.atomic():
        changeset = open_changeset(access, "archive_memories")
        archive_many(WriteContext.of(access), list(Memory.objects.select_for_update()), changeset, "spring")
    return changeset


def test_many_are_undone_by_a_job_in_the_name_of_whoever_asked(access: Access, many: Changeset) -> None:
    """PRN-14: with progress; the history names the key, not the hub."""
    key, secret = make_key(access)
    report = undo_changeset(access_of(secret), many.pk)
    assert report.job is not None
    assert (report.undone, report.job.kind) == (0, JobKind.UNDO_CHANGESET)
    assert undo_changeset(access_of(secret), many.pk).job == report.job
    assert run_job(report.job.pk)
    done = Job.objects.get(pk=report.job.pk)
    assert (done.state, done.done, done.total) == ("done", 520, 520)
    assert Memory.objects.live().count() == 520
    assert get_changeset(access, many.pk).state == "undone"
    assert Revision.objects.filter(action="undo_changeset").values_list("actor_id").distinct().get() == (str(key.pk),)


def test_a_killed_undo_goes_on_where_it_stopped(access: Access, many: Changeset, monkeypatch) -> None:
    """What a batch committed stays; nothing is undone twice."""
    job = undo_changeset(access, many.pk).job
    assert job is not None
    first = list(many.items.order_by("memory_id").values_list("memory_id", flat=True)[:AT_ONCE])
    edited = first[0]
    undo_changeset(access, many.pk, first[1:300])
    update_memory(access, edited, MemoryChanges.parse({"importance": 5}))
    claimed = claim_job(job.pk)
    assert claimed is not None
    assert undo_changes(access, claimed) == 520
    versions = set(Memory.objects.exclude(pk=edited).values_list("version", flat=True))
    assert versions == {3}
    assert ChangesetItem.objects.get(memory_id=edited).refused == "changed_since"


def test_a_key_of_some_banks_sends_nothing_back_to_another(access):
    """BNK-02: what was moved into its bank stays there until somebody undoes it who reaches both."""
    memory = remember(access, "It came from Health.", bank="Health")
    wish = {"action": "move_bank", "bank": "Work", "ids": [str(memory.pk)]}
    changeset = bulk_change(access, BulkChange.parse(wish)).changeset
    assert changeset is not None
    limited = access_of(make_key(access, banks=["Work"])[1])
    assert list(undo_changeset(limited, changeset.pk).blocked) == [memory.pk]
    assert Memory.objects.get(pk=memory.pk).bank.name == "Work"
    undo_changeset(access, changeset.pk)
    assert Memory.objects.get(pk=memory.pk).bank.name == "Health"
