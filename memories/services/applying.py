"""Apply a clean-up plan: what is chosen of it is archived by a job, in one changeset that can be undone (DESIGN §8).

What changed since the plan was made is left as it is and counted; what is protected too; and nothing that says what
others say goes unless one of them stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Count

from banks.access import Access, KeyScope, acting_under, mandate_of
from banks.services.audit import Audited, record_audit
from memories.events import EventType
from memories.jobs import JobKind
from memories.models import CleanupPlan, CleanupPlanItem, Happened, Job, Memory, record_events
from memories.models.effective import effective_settings
from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupplans import BATCH, Chosen, PlanState, Present, Skipped, most_without_asking, why_skip
from memories.rules.cleanupwishes import CleanupWish
from memories.rules.vocabulary import IndexState, JobState, Status, Trust
from memories.services.archiving import archive_many
from memories.services.changesets import open_changeset
from memories.services.contention import despite_deadlocks, lock_chains
from memories.services.context import WriteContext
from memories.services.embedding import retry_failed
from memories.services.jobs import enqueue_job, finish_job, hold_job, report_progress
from memories.services.plans import PlanNotReady, create_plan, find_plan
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict

ACTION = "apply_cleanup"
ARCHIVED = "archived"


class PlanStale(Conflict):
    """What is chosen of this plan is not what was confirmed; read it again and confirm the new count and hash."""

    code = "plan_stale"


class PlanAboveCap(Conflict):
    """This would archive more than the vault allows without asking twice; look at the plan, then confirm_large."""

    code = "plan_above_cap"


def cleanup_memories(access: Access, wish: CleanupWish, dry_run: bool = True) -> CleanupPlan:
    """A clean-up in one step: a plan, which is applied at once unless it is a dry run (CLN-06).

    Needs cleanup:plan, and cleanup:apply unless it is a dry run. Raises PlanAboveCap naming the plan it made.
    """
    access.require(KeyScope.CLEANUP_PLAN)
    if not dry_run:
        access.require(KeyScope.CLEANUP_APPLY)
    plan = create_plan(access, wish)
    return plan if dry_run else apply_plan(access, plan.pk, plan.count, plan.plan_hash)


@despite_deadlocks
def apply_plan(
    access: Access, plan_id: str | UUID, expected_count: int, plan_hash: str, confirm_large: bool = False
) -> CleanupPlan:
    """Start archiving what is chosen of a plan; a job does it. Needs cleanup:apply.

    Raises NotFound, PlanNotReady, PlanStale unless count and hash are those of what is chosen now, and PlanAboveCap
    above the vault's cap (setting ``cleanup_cap_share``) without ``confirm_large``.
    """
    access.require(KeyScope.CLEANUP_APPLY)
    with transaction.atomic():
        plan = find_plan(access, plan_id, lock=True)
        if plan.state not in {PlanState.READY, PlanState.FAILED}:
            raise PlanNotReady(extra={"state": plan.state})
        if (expected_count, plan_hash) != (plan.count, plan.plan_hash):
            raise PlanStale(extra={"count": plan.count, "plan_hash": plan.plan_hash})
        most = cap_of(access)
        if plan.count > most and not confirm_large:
            raise PlanAboveCap(
                f"It would archive {plan.count:,} memories; more than {most:,} need a second look at the plan.",
                extra={"count": plan.count, "most": most, "plan_id": str(plan.pk)},
            )
        if plan.changeset is None:
            plan.changeset = open_changeset(access, ACTION, f"clean-up: {', '.join(plan.rules)}")
        plan.state, plan.job = PlanState.APPLYING.value, _enqueued(access, plan)
        plan.save(update_fields=["state", "job", "changeset"])
        event, changeset_id = EventType.CLEANUP_STARTED, plan.changeset.pk
        record_audit(access, Audited("apply_plan", "cleanup_plan", plan.pk, None, None, changeset_id, event))
    return plan


def cap_of(access: Access) -> int:
    """How many memories a plan may archive without a second confirmation, of the live ones the caller reaches."""
    return most_of(access, Memory.objects.visible_to(access).live().count())


def most_of(access: Access, live: int) -> int:
    """The same when the live ones were counted already."""
    return most_without_asking(live, effective_settings(access)["cleanup_cap_share"].value)


def _enqueued(access: Access, plan: CleanupPlan) -> Job:
    key = str(plan.pk)
    enqueue_job(
        access.vault_id,
        JobKind.APPLY_CLEANUP,
        {"plan_id": key, "changeset_id": str(plan.changeset_id), "mandate": mandate_of(access)},
        dedupe_key=key,
    )
    jobs = Job.objects.filter(vault_id=access.vault_id, kind=JobKind.APPLY_CLEANUP, dedupe_key=key)
    return jobs.get(state=JobState.PENDING)


def apply_cleanup(access: Access, job: Job) -> int:
    """Body of the job: archive what is chosen, 500 at a time; how many were looked at. Raises JobLost.

    Each batch commits by itself and notes on its candidates how it went, so that a killed job goes on where it stopped.
    """
    asked = acting_under(access, job.ref["mandate"])
    plan = find_plan(asked, job.ref["plan_id"])
    chosen = plan.chosen
    total, after = chosen.count(), UUID(int=0)
    done = chosen.exclude(outcome="").count()
    waiting = chosen.filter(outcome="").select_related("cluster").order_by("memory_id")
    while True:
        report_progress(job, done, total, "archiving")
        batch = list(waiting.filter(memory_id__gt=after)[:BATCH])
        if not batch:
            break
        failed = [item.memory_id for item in batch if CleanupRule.FAILED_INDEXING in item.reasons]
        tried = not failed or retry_failed(asked, job, failed)
        _apply_batch(asked, job, plan, batch, tried)
        after, done = batch[-1].memory_id, done + len(batch)
    with transaction.atomic():
        _finish(plan)
        finish_job(job)
    return done


@despite_deadlocks
def _apply_batch(access: Access, job: Job, plan: CleanupPlan, batch: Sequence[CleanupPlanItem], tried: bool) -> None:
    keepers = {item.memory_id: item.cluster.kept_id for item in batch if item.cluster is not None}
    with transaction.atomic():
        hold_job(job)
        if keepers:
            lock_chains(access.vault_id)
        wanted = {item.memory_id for item in batch} | {one for one in keepers.values() if one is not None}
        # Keepers too, so that nobody archives one while what it stands for goes.
        rows = Memory.objects.visible_to(access).select_for_update(of=("self",), no_key=True)
        there = {row.pk: row for row in rows.filter(pk__in=wanted).order_by("id")}
        seen = dict(plan.items.filter(memory_id__in=wanted).values_list("memory_id", "version"))
        turns = {item.memory_id: _turn(item, keepers, seen) for item in batch}
        skipped = {
            item.memory_id: why
            for item in batch
            if (why := _why_skip(item, turns[item.memory_id], there, tried)) is not None
        }
        goes = [item for item in batch if item.memory_id not in skipped]
        archive_many(
            WriteContext.of(access),
            [there[item.memory_id] for item in goes],
            plan.changeset,
            {item.memory_id: _reason(item) for item in goes},
            {item.memory_id: keepers[item.memory_id] for item in goes if item.memory_id in keepers},
        )
        _note(batch, skipped)


def _turn(item: CleanupPlanItem, keepers: Mapping[UUID, UUID | None], seen: Mapping[UUID, int]) -> Chosen:
    """What was chosen, with the version at which somebody saw the one that is to stand for it."""
    kept = keepers.get(item.memory_id)
    known = None if kept is None else seen.get(kept)
    return Chosen(item.memory_id, item.version, kept, item.memory_id in keepers, known)


def _why_skip(item: CleanupPlanItem, chosen: Chosen, there: Mapping[UUID, Memory], tried: bool) -> Skipped | None:
    if not tried and item.reasons == [CleanupRule.FAILED_INDEXING]:
        return Skipped.NOT_RETRIED
    keeper = there.get(chosen.successor_id) if chosen.successor_id is not None else None
    reasons = [CleanupRule(reason) for reason in item.reasons]
    return why_skip(chosen, reasons, _present(there.get(item.memory_id)), _present(keeper), now())


def _present(memory: Memory | None) -> Present | None:
    if memory is None:
        return None
    return Present(
        version=memory.version,
        is_archived=memory.archived,
        is_protected=memory.is_protected,
        index_state=IndexState(memory.index_state),
        trust=Trust(memory.trust),
        status=Status(memory.status),
        is_superseded=memory.superseded_by_id is not None,
        expires_at=memory.expires_at,
    )


def _reason(item: CleanupPlanItem) -> str:
    return f"clean-up: {', '.join(item.reasons) or 'duplicate'}"


def _note(batch: Sequence[CleanupPlanItem], skipped: Mapping[UUID, Skipped]) -> None:
    for outcome in {ARCHIVED, *skipped.values()}:
        ids = [item.pk for item in batch if skipped.get(item.memory_id, ARCHIVED) == outcome]
        CleanupPlanItem.objects.filter(pk__in=ids).update(outcome=str(outcome))


def _finish(plan: CleanupPlan) -> None:
    outcomes = plan.chosen.exclude(outcome=ARCHIVED).order_by().values_list("outcome").annotate(n=Count("pk"))
    plan.state, plan.applied_at, plan.skipped = PlanState.APPLIED.value, now(), dict(outcomes)
    plan.save(update_fields=["state", "applied_at", "skipped"])
    changes = {"changeset_id": str(plan.changeset_id)}
    record_events(plan.vault_id, Happened(EventType.CLEANUP_APPLIED, "cleanup_plan", plan.pk, changes))
