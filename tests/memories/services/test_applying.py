"""Applying a plan: what goes, what is left alone, and that it can be undone."""

from __future__ import annotations

import datetime as dt

import pytest

from banks.access import Access, KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry
from memories.jobs import JobKind
from memories.models import CleanupPlan, Job, Link, Memory, Revision
from memories.rules.cleanupwishes import CleanupWish
from memories.rules.drafts import MemoryChanges
from memories.rules.settings import Level
from memories.rules.vocabulary import IndexState
from memories.services import applying
from memories.services.applying import PlanAboveCap, PlanStale, apply_cleanup, apply_plan, cleanup_memories
from memories.services.editing import update_memory
from memories.services.jobs import JobLost, cancel_job, claim_job
from memories.services.lifecycle import archive_memory
from memories.services.plans import PlanNotReady, create_plan, get_plan
from memories.services.running import run_job
from memories.services.settings import write_setting
from memories.services.undoing import ChangesetGrowing, undo_changeset
from memoryhub.lib.clock import now
from tests.factories import access_of, make_key, remember

pytestmark = pytest.mark.django_db
DAY = dt.timedelta(days=1)


@pytest.fixture
def stale(access: Access) -> list[Memory]:
    """Four candidates among twenty memories: exactly the cap."""
    for number in range(16):
        remember(access, f"Locker {number} is taken.")
    old = {"created_at": str(now() - 40 * DAY), "type": "episodic", "importance": 2}
    return [remember(access, f"Episode {number} of long ago.", **old) for number in range(4)]


def applied(access: Access, plan: CleanupPlan, **more: bool) -> CleanupPlan:
    """The plan after its job."""
    started = apply_plan(access, plan.pk, plan.count, plan.plan_hash, **more)
    assert started.state == "applying"
    assert run_job(job_of(started).pk)
    return get_plan(access, plan.pk)


def job_of(plan: CleanupPlan) -> Job:
    return Job.objects.get(pk=str(plan.job_id))


def archived() -> set[str]:
    return {memory.content for memory in Memory.objects.exclude(archived_at=None)}


def test_what_is_chosen_is_archived_in_one_changeset_and_comes_back(access: Access, stale) -> None:
    """CLN-01, PRN-14, CON-17: archived with its reasons, by whoever asked, as one."""
    key, secret = make_key(access)
    plan = applied(access_of(secret), create_plan(access))
    assert (plan.state, plan.skipped) == ("applied", {})
    assert archived() == {memory.content for memory in stale}
    memory = Memory.objects.get(pk=stale[0].pk)
    assert (memory.archived_reason, memory.version) == ("clean-up: stale_episodic", 2)
    revision = Revision.objects.get(memory=memory)
    assert (revision.action, revision.actor_id) == ("apply_cleanup", str(key.pk))
    assert AuditEntry.objects.filter(action="apply_cleanup").count() == 4
    job = Job.objects.get(pk=str(plan.job_id))
    assert (job.kind, job.state, job.done, job.total) == (JobKind.APPLY_CLEANUP, "done", 4, 4)

    assert undo_changeset(access, str(plan.changeset_id)).undone == 4
    assert archived() == set()
    assert get_plan(access, plan.pk).state == "undone"


def test_what_changed_since_is_left_alone_and_counted(access: Access, stale) -> None:
    """CLN-10: whatever the plan says."""
    plan = create_plan(access)
    edited, protected, gone, last = (memory.pk for memory in stale)
    update_memory(access, edited, MemoryChanges.parse({"importance": 5}))
    update_memory(access, protected, MemoryChanges.parse({"is_protected": True}))
    archive_memory(access, gone)
    plan = applied(access, plan, confirm_large=True)
    assert plan.skipped == {"changed": 1, "protected": 1, "was_archived": 1}
    assert [item.memory_id for item in plan.changeset.items.all()] == [last]


def test_a_stale_confirmation_is_refused(access: Access, stale) -> None:
    plan = create_plan(access)
    for count, digest in ((plan.count + 1, plan.plan_hash), (plan.count, "0" * 64)):
        with pytest.raises(PlanStale) as caught:
            apply_plan(access, plan.pk, count, digest)
    assert caught.value.extra == {"count": 4, "plan_hash": plan.plan_hash}
    applied(access, plan)
    with pytest.raises(PlanNotReady):
        apply_plan(access, plan.pk, plan.count, plan.plan_hash)


def test_above_the_cap_it_asks_twice(access: Access, stale) -> None:
    """20 % by default: 4 of 20 are fine, 5 of 21 are not."""
    old = {"created_at": str(now() - 40 * DAY), "type": "episodic", "importance": 2}
    remember(access, "One episode more.", **old)
    plan = create_plan(access)
    with pytest.raises(PlanAboveCap) as caught:
        apply_plan(access, plan.pk, plan.count, plan.plan_hash)
    assert caught.value.extra["most"] == 4
    assert applied(access, plan, confirm_large=True).state == "applied"
    assert len(archived()) == 5


def test_one_call_makes_a_plan_and_above_the_cap_leaves_it(access: Access, stale) -> None:
    """DESIGN §8: make a plan."""
    write_setting(access, Level.VAULT, "cleanup_cap_share", 0.1)
    with pytest.raises(PlanAboveCap) as caught:
        cleanup_memories(access, CleanupWish(), dry_run=False)
    assert get_plan(access, caught.value.extra["plan_id"]).state == "ready"
    assert archived() == set()
    write_setting(access, Level.VAULT, "cleanup_cap_share", 0.2)
    assert cleanup_memories(access, CleanupWish()).state == "ready"
    started = cleanup_memories(access, CleanupWish(), dry_run=False)
    assert run_job(job_of(started).pk)
    assert len(archived()) == 4


def test_duplicates_name_who_stands_for_them_and_one_always_lives(access: Access) -> None:
    """SUP-03, CON-17: replaced_by; an archived keeper keeps the others alive."""
    write_setting(access, Level.VAULT, "cleanup_cap_share", 1.0)
    texts = ("The lake freezes.", "The boiler hums.")
    pairs = [(remember(access, text), remember(access, text, dedup=False, importance=5)) for text in texts]
    plan = create_plan(access, CleanupWish.parse({"rules": ["exact_duplicate"]}))
    (gone, kept), (alive, lost) = pairs
    archive_memory(access, lost.pk)
    plan = applied(access, plan)
    assert plan.skipped == {"keeper_gone": 1}
    assert Memory.objects.get(pk=gone.pk).superseded_by_id == kept.pk
    assert not Memory.objects.get(pk=alive.pk).archived
    assert Link.objects.get().source_id == kept.pk
    undo_changeset(access, str(plan.changeset_id))
    assert Memory.objects.get(pk=gone.pk).superseded_by_id is None
    assert not Link.objects.exists()


def test_what_no_longer_says_the_same_stands_for_nothing(access: Access) -> None:
    """A keeper that was edited after the plan was made swallows nobody: their text would be found nowhere."""
    for _ in range(3):
        remember(access, "The key is under the mat.", dedup=False)
    plan = create_plan(access, CleanupWish.parse({"rules": ["exact_duplicate"]}))
    keeper = plan.items.get(stays=True).memory
    update_memory(access, keeper.pk, MemoryChanges.parse({"content": "The mat is green."}))
    plan = applied(access, plan, confirm_large=True)
    assert plan.skipped == {"keeper_changed": 2}
    assert archived() == set()


def test_failed_indexing_is_tried_once_more_first(access: Access, stale) -> None:
    """CLN-10: what can be indexed after all stays; what cannot be opened goes."""
    fine, broken = remember(access, "Its vector was late."), remember(access, "It does not open.")
    rows = Memory.objects.filter(pk__in=[fine.pk, broken.pk])
    rows.update(index_state=IndexState.FAILED)
    other = Memory.objects.get(pk=stale[0].pk)
    Memory.objects.filter(pk=broken.pk).update(content=other.__dict__["content"])
    plan = applied(access, create_plan(access, CleanupWish.parse({"rules": ["failed_indexing"]})))
    assert plan.skipped == {"indexed": 1}
    assert Memory.objects.get(pk=fine.pk).index_state == IndexState.READY
    assert Memory.objects.get(pk=broken.pk).archived


def test_a_killed_job_goes_on_where_it_stopped(access: Access, stale, monkeypatch) -> None:
    """What a batch committed stays; nothing is archived twice, nothing is forgotten."""
    monkeypatch.setattr(applying, "BATCH", 2)
    plan = create_plan(access)
    started = apply_plan(access, plan.pk, plan.count, plan.plan_hash)
    first, second = claim_job(job_of(started).pk), None
    assert first is not None
    items = list(plan.chosen.select_related("cluster").order_by("memory_id")[:2])
    applying._apply_batch(access, first, get_plan(access, plan.pk), items, True)
    Job.objects.filter(pk=first.pk).update(lease_until=now() - DAY)
    second = claim_job(job_of(started).pk)
    assert second is not None
    assert apply_cleanup(access, second) == 4
    assert set(Memory.objects.exclude(archived_at=None).values_list("version", flat=True)) == {2}
    assert len(archived()) == 4


def test_a_cancelled_job_leaves_a_plan_that_can_be_applied_again(access: Access, stale) -> None:
    plan = create_plan(access)
    started = apply_plan(access, plan.pk, plan.count, plan.plan_hash)
    cancel_job(access, job_of(started).pk)
    assert get_plan(access, plan.pk).state == "failed"
    assert applied(access, plan).state == "applied"
    assert len(archived()) == 4


def test_what_was_undone_half_way_is_not_applied_again(access: Access, stale, monkeypatch) -> None:
    """Its count and hash were confirmed for all of it; the rest is another clean-up."""
    monkeypatch.setattr(applying, "BATCH", 2)
    plan = create_plan(access)
    going = apply_plan(access, plan.pk, plan.count, plan.plan_hash)
    job = claim_job(job_of(going).pk)
    assert job is not None
    cancel_job(access, job.pk)
    with pytest.raises(JobLost):
        apply_cleanup(access, job)
    assert undo_changeset(access, str(going.changeset_id)).is_clean
    with pytest.raises(PlanNotReady):
        apply_plan(access, plan.pk, plan.count, plan.plan_hash)


def test_it_is_not_undone_while_it_is_applied(access: Access, stale) -> None:
    """An undo in the middle would leave what is archived after it beyond every undo."""
    plan = create_plan(access)
    going = apply_plan(access, plan.pk, plan.count, plan.plan_hash)
    with pytest.raises(ChangesetGrowing):
        undo_changeset(access, str(going.changeset_id))
    assert run_job(job_of(going).pk)
    assert undo_changeset(access, str(going.changeset_id)).undone == 4
    assert archived() == set()


def test_applying_needs_its_scope(access: Access, stale) -> None:
    planner = access_of(make_key(access, frozenset({KeyScope.CLEANUP_PLAN}))[1])
    plan = create_plan(planner)
    with pytest.raises(MissingScope):
        apply_plan(planner, plan.pk, plan.count, plan.plan_hash)
    with pytest.raises(MissingScope):
        cleanup_memories(planner, CleanupWish(), dry_run=False)
