"""Many memories changed as one: what is chosen, what is left alone, in the background, and taken back."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from banks.access import Access, KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry
from memories.models import BulkBatch, Changeset, Job, Memory, Revision
from memories.rules import bulk as rules
from memories.rules.bulk import BulkChange, Skip
from memories.rules.filters import MemoryFilter
from memories.rules.vocabulary import ChangesetState, JobState
from memories.search.listing import list_memories
from memories.services import bulk
from memories.services.bulk import SelectionChanged, bulk_change, forget_bulk
from memories.services.changesets import get_changeset
from memories.services.jobs import JobLost, cancel_job, claim_job, retry_job
from memories.services.running import run_job
from memories.services.undoing import undo_changeset
from tests.factories import access_of, make_key, remember

pytestmark = pytest.mark.django_db


def many(access: Access, count: int, **more: Any) -> list[Memory]:
    return [remember(access, f"The number of house {n} is {n}.", dedup=False, **more) for n in range(count)]


def asked(action: str, **more: Any) -> BulkChange:
    return BulkChange.parse({"action": action, **more})


def ids_of(rows: list[Memory]) -> list[str]:
    return [str(row.pk) for row in rows]


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three at once are enough to see the job work."""
    monkeypatch.setattr(bulk, "AT_ONCE", 3)


@pytest.mark.parametrize(
    ("action", "more", "field", "value"),
    [
        ("archive", {"reason": "tidying"}, "archived", True),
        ("move_bank", {"bank": "work"}, "bank__name", "Work"),
        ("add_tags", {"tags": ["new"]}, "tags", ["old", "new"]),
        ("remove_tags", {"tags": ["old"]}, "tags", []),
        ("set_importance", {"importance": 5}, "importance", 5),
        ("set_category", {"category": "semantic"}, "category", "semantic"),
        ("protect", {}, "is_protected", True),
        ("discard", {}, "status", "discard"),
    ],
)
def test_each_action_is_one_changeset_and_can_be_taken_back(
    access: Access, action: str, more: dict[str, Any], field: str, value: Any
):
    """DESIGN §8: one changeset, audit and revisions for each, and undo makes it as it was."""

    def values() -> list[Any]:
        return [row.bank.name if field == "bank__name" else getattr(row, field) for row in Memory.objects.all()]

    rows = many(access, 3, tags=["old"])
    before = values()
    report = bulk_change(access, asked(action, ids=ids_of(rows), **more))
    assert (report.changed, report.unchanged, report.skipped, report.missing) == (3, 0, {}, [])
    assert values() == [value] * 3
    assert report.changeset is not None
    assert get_changeset(access, report.changeset.pk).count == 3
    assert Revision.objects.filter(changeset=report.changeset, action=f"bulk_{action}").count() == 3
    assert AuditEntry.objects.filter(action=f"bulk_{action}", target_kind="memory").count() == 3
    assert undo_changeset(access, report.changeset.pk).undone == 3
    assert values() == before


def test_what_is_so_already_is_no_change(access: Access):
    rows = many(access, 2, importance=4)
    report = bulk_change(access, asked("set_importance", ids=ids_of(rows), importance=4))
    assert (report.changeset, report.changed, report.unchanged) == (None, 0, 2)
    assert not Changeset.objects.exists()
    assert {row.version for row in Memory.objects.all()} == {1}


def test_a_query_changes_what_matches_but_what_is_excluded(access: Access):
    work, home = many(access, 4, bank="Work"), many(access, 2, bank="Personal")
    report = bulk_change(
        access, asked("archive", query={"bank": "Work"}, exclude_ids=ids_of(work[:1]), expected_count=3)
    )
    assert report.changed == 3
    shown = {row.pk for row in list_memories(access, MemoryFilter()).items}
    assert shown == {work[0].pk, *(row.pk for row in home)}


@pytest.mark.parametrize("seen", [0, 2, 4])
def test_a_number_that_drifted_changes_nothing(access: Access, seen: int):
    """ux §2.2: the server counts again and refuses when it is not what was seen."""
    many(access, 3)
    with pytest.raises(SelectionChanged) as caught:
        bulk_change(access, asked("archive", query={}, expected_count=seen))
    assert caught.value.extra == {"count": 3}
    assert not Memory.objects.filter(archived_at__isnull=False).exists()
    assert not Changeset.objects.exists()


def test_what_is_left_alone_says_why(access: Access):
    """CLN-10, SUP-07: protected, replaced, decided, said already."""
    kept = remember(access, "Kept.", is_protected=True)
    free = remember(access, "Free.")
    report = bulk_change(access, asked("archive", ids=[str(kept.pk), str(free.pk), "0" * 32]))
    assert (report.changed, report.skipped, len(report.missing)) == (1, {kept.pk: Skip.PROTECTED}, 1)
    old = remember(access, "The hub runs on port 1.")
    remember(access, "The hub runs on port 2.", supersedes=str(old.pk))
    again = remember(access, "Free.")
    report = bulk_change(access, asked("restore", ids=[str(old.pk), str(free.pk)]))
    assert report.skipped == {old.pk: Skip.SUPERSEDED, free.pk: Skip.DUPLICATE_CONTENT}
    assert again.pk != free.pk
    assert report.changeset is None


def test_a_key_changes_only_what_it_reaches(access: Access):
    """MOD-25, BNK-02: other banks are not counted, not changed and answered like ids nobody has."""
    own, other = remember(access, "Mine.", bank="Work"), remember(access, "Theirs.", bank="Health")
    caller = access_of(make_key(access, banks=["Work"])[1])
    report = bulk_change(caller, asked("protect", ids=[str(own.pk), str(other.pk)]))
    assert (report.changed, report.missing) == (1, [other.pk])
    assert bulk_change(caller, asked("archive", query={"is_protected": False}, expected_count=0)).changed == 0
    assert not Memory.objects.get(pk=other.pk).is_protected


@pytest.mark.parametrize(
    ("action", "scope"),
    [
        ("archive", KeyScope.MEMORIES_DELETE),
        ("accept", KeyScope.MEMORIES_APPROVE),
        ("discard", KeyScope.MEMORIES_APPROVE),
        ("restore", KeyScope.MEMORIES_WRITE),
        ("protect", KeyScope.MEMORIES_WRITE),
    ],
)
def test_scopes_are_those_of_the_single_verbs(access: Access, action: str, scope: KeyScope):
    memory = remember(access, "Something.")
    everything_else = frozenset(KeyScope) - {scope}
    caller = access_of(make_key(access, everything_else)[1])
    with pytest.raises(MissingScope):
        bulk_change(caller, asked(action, ids=[str(memory.pk)]))


def test_taking_a_review_back_needs_a_reviewer(access: Access):
    draft = remember(access, "Maybe.", status="draft")
    report = bulk_change(access, asked("discard", ids=[str(draft.pk)]))
    assert report.changeset is not None
    writer = access_of(make_key(access, frozenset({KeyScope.MEMORIES_READ, KeyScope.MEMORIES_WRITE}))[1])
    with pytest.raises(MissingScope):
        undo_changeset(writer, report.changeset.pk)


def test_more_than_fit_one_transaction_are_work_for_a_job(access: Access, small_steps: None):
    """GEN-14: progress in the job, one changeset, nothing left over, and undo takes all of it back."""
    many(access, 8)
    report = bulk_change(access, asked("archive", query={}, expected_count=8, reason="Old addresses."))
    assert report.job is not None
    assert report.changeset is not None
    assert not Memory.objects.filter(archived_at__isnull=False).exists()
    assert run_job(report.job.pk)
    job = Job.objects.get(pk=report.job.pk)
    assert (job.state, job.done, job.total) == (JobState.DONE, 8, 8)
    assert Memory.objects.filter(archived_at__isnull=False).count() == 8
    assert get_changeset(access, report.changeset.pk).count == 8
    assert not BulkBatch.objects.exists()
    assert undo_changeset(access, report.changeset.pk).undone == 8
    assert Memory.objects.live().count() == 8


def test_a_job_whose_worker_died_goes_on_with_what_is_left(access: Access, small_steps: None):
    """DESIGN §7: nothing lost, nothing twice: the state is in the database."""
    many(access, 8)
    report = bulk_change(access, asked("set_importance", query={}, expected_count=8, importance=1))
    assert report.job is not None
    dead = claim_job(report.job.pk)
    assert dead is not None
    batch = BulkBatch.objects.earliest("id")
    bulk._change_batch(access, dead, batch.changeset_id, batch.pk)
    Job.objects.filter(pk=dead.pk).update(lease_until=dead.started_at)
    assert run_job(dead.pk)
    assert list(Memory.objects.values_list("importance", "version")) == [(1, 2)] * 8
    assert Job.objects.get(pk=dead.pk).done == 8
    with pytest.raises(JobLost), transaction.atomic():
        bulk._change_batch(access, dead, batch.changeset_id, batch.pk)


def test_cancelled_stays_as_far_as_it_got_and_retry_goes_on(access: Access, small_steps: None):
    many(access, 8)
    report = bulk_change(access, asked("protect", query={}, expected_count=8))
    assert report.job is not None
    cancel_job(access, report.job.pk)
    assert not run_job(report.job.pk)
    assert not Memory.objects.filter(is_protected=True).exists()
    retry_job(access, report.job.pk)
    assert run_job(report.job.pk)
    assert Memory.objects.filter(is_protected=True).count() == 8


def test_what_is_undone_meanwhile_is_not_changed_any_further(access: Access, small_steps: None):
    many(access, 8)
    report = bulk_change(access, asked("archive", query={}, expected_count=8))
    assert report.job is not None
    assert report.changeset is not None
    job = claim_job(report.job.pk)
    assert job is not None
    batch = BulkBatch.objects.earliest("id")
    bulk._change_batch(access, job, batch.changeset_id, batch.pk)
    undo_changeset(access, report.changeset.pk)
    bulk.continue_bulk_change(access, job)
    assert Memory.objects.live().count() == 8
    assert get_changeset(access, report.changeset.pk).state == ChangesetState.UNDONE
    assert not BulkBatch.objects.exists()


def test_an_erased_memory_is_on_no_list(access: Access, small_steps: None):
    rows = many(access, 4)
    bulk_change(access, asked("archive", query={}, expected_count=4))
    assert forget_bulk(access, [rows[0].pk]) == 1
    assert forget_bulk(access, [rows[0].pk]) == 0
    assert rows[0].pk not in [one for batch in BulkBatch.objects.all() for one in batch.memory_ids]


def test_how_many_fit_one_transaction():
    assert rules.AT_ONCE == 500
