"""Retention: shown first, archived as one changeset that can be undone, purged only where nothing can be undone."""

from __future__ import annotations

import datetime as dt

import pytest

from banks.access import Access
from banks.access.access import WholeVaultNeeded
from memories.jobs import JobKind
from memories.models import Changeset, ErasureReceipt, Job, Memory
from memories.rules.vocabulary import JobState
from memories.services.changesets import Moved, open_changeset, record_items
from memories.services.lifecycle import archive_memory
from memories.services.receipts import verify_receipt
from memories.services.retention import preview_retention, start_retention, write_retention
from memories.services.running import run_job
from memories.services.undoing import undo_changeset
from memoryhub.lib.clock import now
from tests.factories import access_of, make_key, remember

pytestmark = pytest.mark.django_db


def aged(memory: Memory, days: int, **more: object) -> Memory:
    then = now() - dt.timedelta(days=days)
    Memory.objects.filter(pk=memory.pk).update(created_at=then, updated_at=then, **more)
    return memory


def enforce(access: Access) -> Job:
    start_retention(access)
    job = Job.objects.get(kind=JobKind.ENFORCE_RETENTION, state=JobState.PENDING)
    assert run_job(job.pk)
    return Job.objects.get(pk=job.pk)


def archived() -> set[str]:
    return {memory.content for memory in Memory.objects.exclude(archived_at=None)}


def test_a_policy_is_shown_then_enforced_then_undone(access):
    """PRN-14, CON-17: the dry run counts what the job archives, and one undo brings it back."""
    aged(remember(access, "old", bank="Work"), 100)
    aged(remember(access, "old but protected", bank="Work", is_protected=True), 100)
    aged(remember(access, "old elsewhere", bank="Health"), 100)
    remember(access, "new", bank="Work")
    [proposed] = preview_retention(access, "Work", {"enable_retention": True, "retention_max_age_days": 90})
    assert dict(proposed.to_archive) == {"age": 1}
    [stored] = preview_retention(access, "Work")
    assert (stored.policy.enabled, dict(stored.to_archive)) == (False, {})
    write_retention(access, "Work", {"enable_retention": True, "retention_max_age_days": 90})
    assert enforce(access).state == JobState.DONE
    assert archived() == {"old"}
    changeset = Changeset.objects.get()
    assert (changeset.action, changeset.reason) == ("enforce_retention", "retention")
    undo_changeset(access, changeset.pk)
    assert archived() == set()


def test_a_purge_takes_only_what_nothing_can_bring_back(access):
    """CON-17: not what was archived lately, nor what a recent changeset reaches, nor the sources of a summary."""
    gone = aged(remember(access, "gone"), 200)
    rejected = aged(remember(access, "rejected", status="discard"), 200)
    recent, reachable, protected = (remember(access, name) for name in ("recent", "reachable", "protected"))
    for memory in (gone, recent, reachable, protected):
        archive_memory(access, memory.pk)
    long_ago = now() - dt.timedelta(days=100)
    Memory.objects.exclude(pk=recent.pk).exclude(archived_at=None).update(archived_at=long_ago)
    Memory.objects.filter(pk=rejected.pk).update(updated_at=long_ago)
    Memory.objects.filter(pk=protected.pk).update(is_protected=True)
    record_items(open_changeset(access, "bulk_change"), [Moved(reachable.pk, 1, 2)])
    values = {"enable_retention": True, "purge_archived_days": 60, "purge_discarded_days": 60}
    [kept] = write_retention(access, "General", values)
    assert kept.to_purge == 2
    enforce(access)
    assert set(Memory.objects.values_list("pk", flat=True)) == {recent.pk, reachable.pk, protected.pk}
    receipt = ErasureReceipt.objects.get()
    assert (receipt.kind, receipt.removed["memories"], verify_receipt(access, receipt.pk).holds) == (
        "retention",
        2,
        True,
    )


def test_nothing_happens_without_a_policy(access):
    """PRN-14: off by default, also the purge."""
    aged(remember(access, "old"), 4_000)
    aged(remember(access, "rejected", status="discard"), 4_000)
    enforce(access)
    assert (Memory.objects.count(), Changeset.objects.count(), ErasureReceipt.objects.count()) == (2, 0, 0)


def test_a_key_of_some_banks_does_not_enforce_the_policies_of_all(access):
    """BNK-02: it would archive what the key does not reach."""
    with pytest.raises(WholeVaultNeeded):
        start_retention(access_of(make_key(access, banks=["Work"])[1]))
