"""Clean-up plans: a dry run that is kept, looked through, changed and handed on to be applied (DESIGN §8, CLN)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, F, Q, QuerySet, Value

from banks.access import Access, KeyScope
from banks.services.audit import Audited, record_audit
from memories.events import EventType
from memories.models import CleanupCluster, CleanupExemption, CleanupPlan, CleanupPlanItem, Memory
from memories.models.effective import effective_settings
from memories.rules.cleanup import CleanupRule, Thresholds
from memories.rules.cleanupplans import Chosen, PlanState, hash_of, is_expired
from memories.rules.cleanupwishes import CleanupWish, PlanChoice
from memories.rules.trust import may_supersede
from memories.rules.vocabulary import JobState, Trust
from memories.services.cleanup import Found, find_candidates
from memories.services.superseding import TrustTooLow
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, FieldError, Invalid, NotFound
from memoryhub.lib.ids import new_id, parse_id
from memoryhub.lib.pagination import decode_cursor, encode_cursor, query_text


class PlanNotReady(Conflict):
    """This plan was applied, failed or expired, so nothing about it can be changed; make a new one."""

    code = "plan_not_ready"


@dataclass(frozen=True, slots=True)
class PlanPage:
    """Plans, newest first."""

    items: list[CleanupPlan]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class PlanItemPage:
    """Candidates with their memories, oldest first; ``total`` counts all that match."""

    items: list[CleanupPlanItem]
    next_cursor: str | None
    total: int


@dataclass(frozen=True, slots=True)
class PlanItemFilter:
    """Which candidates of a plan."""

    reason: CleanupRule | None = None
    ticked: bool | None = None
    outcome: str | None = None
    cluster_id: UUID | None = None


def create_plan(access: Access, wish: CleanupWish | None = None) -> CleanupPlan:
    """Keep what a clean-up would archive now, everything chosen. Changes no memory. Needs cleanup:plan.

    Raises QueryNotUnderstood.
    """
    access.require(KeyScope.CLEANUP_PLAN)
    wish = wish or CleanupWish()
    found = find_candidates(access, wish)
    with transaction.atomic():
        plan = CleanupPlan.objects.create(
            vault_id=access.vault_id,
            rules=[rule.value for rule in wish.wanted],
            query=wish.query,
            thresholds=_shown(found.thresholds),
            actor_kind=access.actor.kind,
            actor_id=access.actor.id,
        )
        _store(plan, found)
        plan.candidates = len(found.verdicts)
        plan.state = PlanState.READY.value
        _count(plan)
        record_audit(access, Audited("create_plan", "cleanup_plan", plan.pk, event=EventType.CLEANUP_PLANNED))
    return plan


def _shown(limits: Thresholds) -> dict[str, int]:
    """Thresholds as plain numbers, by the names of their settings."""
    return {
        "episodic_age_days": limits.episodic_age.days,
        "episodic_importance": limits.episodic_importance,
        "stale_days": limits.stale_after.days,
        "stale_importance": limits.stale_importance,
        "unrecalled_days": limits.unrecalled_after.days,
    }


def _store(plan: CleanupPlan, found: Found) -> None:
    clusters, places = [], dict[UUID, tuple[UUID, float]]()
    for cluster in found.clusters:
        row = CleanupCluster(id=new_id(), vault_id=plan.vault_id, plan_id=plan.pk, why=cluster.why.value)
        row.proposed_id = row.kept_id = cluster.keeper
        row.similarity = min(one.similarity for one in cluster.others)
        clusters.append(row)
        places |= {one.other: (row.pk, one.similarity) for one in cluster.others}
    insert_rows(clusters)
    keepers = {row.kept_id: row.pk for row in clusters}
    alone = (None, None)
    rows: list[tuple[Any, ...]] = [
        (one.id, one.version, [reason.value for reason in one.reasons], *places.get(one.id, alone), False)
        for one in found.verdicts
    ]
    versions = Memory.objects.filter(pk__in=list(keepers)).values_list("pk", "version")
    rows += [(memory_id, version, [], keepers[memory_id], None, True) for memory_id, version in versions]
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(_COPY_ITEMS) as copy:
        # Plain rows: building a model for each of a hundred thousand candidates would take longer than finding them.
        for candidate in rows:
            copy.write_row((plan.vault_id, plan.pk, *candidate, True, False, ""))


_COPY_ITEMS = """
    COPY memories_cleanupplanitem
    (vault_id, plan_id, memory_id, version, reasons, cluster_id, similarity, stays, is_ticked, is_exempt, outcome)
    FROM STDIN
"""


def _count(plan: CleanupPlan) -> None:
    """Count and hash what is chosen now, and save the plan."""
    rows = list(plan.chosen.values_list("memory_id", "version", "cluster__kept_id", "reasons"))
    plan.count = len(rows)
    plan.plan_hash = hash_of(Chosen(memory_id, version, kept) for memory_id, version, kept, _ in rows)
    plan.by_reason = dict(Counter(reason for *_, reasons in rows for reason in reasons))
    plan.save()


def list_plans(access: Access, limit: int = 50, cursor: str | None = None) -> PlanPage:
    """Clean-up plans, newest first. Needs cleanup:plan. Raises CursorInvalid, CursorMismatch."""
    access.require(KeyScope.CLEANUP_PLAN)
    rows, query = _visible(access), query_text(access.vault_id, access.actor.id, "plans")
    if cursor:
        rows = rows.filter(id__lt=UUID(str(decode_cursor(cursor, query).position[0])))
    found = list(rows.select_related("job").order_by("-id")[: limit + 1])
    following = encode_cursor([str(found[limit - 1].pk)], query) if len(found) > limit else None
    days = effective_settings(access)["cleanup_plan_days"].value
    return PlanPage([_as_it_is(plan, days) for plan in found[:limit]], following)


def get_plan(access: Access, plan_id: str | UUID) -> CleanupPlan:
    """One plan. Needs cleanup:plan. Raises NotFound."""
    access.require(KeyScope.CLEANUP_PLAN)
    return find_plan(access, plan_id)


def find_plan(access: Access, plan_id: str | UUID, *, lock: bool = False) -> CleanupPlan:
    """The same for a verb that has checked what the caller may do with it. Raises NotFound."""
    rows = _visible(access).select_related("job")
    if lock:
        rows = rows.select_for_update(of=("self",))
    plan = rows.filter(pk=parse_id(plan_id)).first()
    if plan is None:
        raise NotFound("There is no such clean-up plan in this vault.")
    return _as_it_is(plan, effective_settings(access)["cleanup_plan_days"].value)


def _visible(access: Access) -> QuerySet[CleanupPlan]:
    """Every plan of the vault; whoever sees only a part of the memories sees only plans made from that part."""
    rows = CleanupPlan.objects.filter(vault_id=access.vault_id)
    if access.agent is None and access.bank_ids is None:
        return rows
    return rows.filter(actor_kind=access.actor.kind, actor_id=access.actor.id)


def _as_it_is(plan: CleanupPlan, days: int) -> CleanupPlan:
    """With the state that time and its job have brought about since it was saved."""
    if is_expired(PlanState(plan.state), plan.created_at, now(), days):
        plan.state = PlanState.EXPIRED.value
    stopped = plan.job is not None and plan.job.state in {JobState.DEAD, JobState.CANCELLED}
    if plan.state == PlanState.APPLYING and stopped:
        plan.state = PlanState.FAILED.value
    return plan


def list_plan_items(
    access: Access,
    plan_id: str | UUID | CleanupPlan,
    wanted: PlanItemFilter | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> PlanItemPage:
    """A page of candidates of a plan, by its id or as it was read, each with its memory and cluster.

    Needs cleanup:plan. Raises NotFound, CursorInvalid, CursorMismatch.
    """
    access.require(KeyScope.CLEANUP_PLAN)
    plan, asked = _read(access, plan_id), wanted or PlanItemFilter()
    rows = _items(access, plan)
    if asked.reason is not None:
        rows = rows.filter(reasons__contains=[asked.reason.value])
    if asked.ticked is not None:
        rows = rows.filter(stays=False, is_ticked=asked.ticked)
    if asked.outcome is not None:
        rows = rows.filter(outcome=asked.outcome)
    if asked.cluster_id is not None:
        rows = rows.filter(cluster_id=asked.cluster_id)
    query = query_text(access.vault_id, access.actor.id, "plan", plan.pk, repr(asked))
    page = rows
    if cursor:
        page = rows.filter(memory_id__gt=UUID(str(decode_cursor(cursor, query).position[0])))
    found = list(_with_memories(page).order_by("memory_id")[: limit + 1])
    following = encode_cursor([str(found[limit - 1].memory_id)], query) if len(found) > limit else None
    return PlanItemPage(found[:limit], following, rows.count())


def _read(access: Access, plan: str | UUID | CleanupPlan) -> CleanupPlan:
    return plan if isinstance(plan, CleanupPlan) else find_plan(access, plan)


def _items(access: Access, plan: CleanupPlan) -> QuerySet[CleanupPlanItem]:
    """Its candidates that the caller may see."""
    return CleanupPlanItem.objects.filter(plan=plan, memory__in=Memory.objects.visible_to(access).values("pk"))


def list_first_items(access: Access, plan: CleanupPlan, limit: int) -> dict[CleanupRule, PlanItemPage]:
    """The first candidates that each rule of a plan names, and how many it names. Needs cleanup:plan.

    In as many statements however many rules there are; with a limit of 0 in one that only counts.
    """
    access.require(KeyScope.CLEANUP_PLAN)
    rows, rules = _items(access, plan).order_by(), [CleanupRule(rule) for rule in plan.rules]
    counts = rows.aggregate(**{rule.value: Count("pk", filter=Q(reasons__contains=[rule.value])) for rule in rules})
    named = [
        rows.filter(reasons__contains=[rule.value]).order_by("memory_id").values_list(Value(rule.value), "pk")[:limit]
        for rule in rules
        if limit and counts[rule.value]
    ]
    places = list(named[0].union(*named[1:], all=True)) if named else []
    known = _with_memories(rows).in_bulk({pk for _, pk in places})
    first = {rule: [known[pk] for named_by, pk in places if named_by == rule] for rule in rules}
    oldest = attrgetter("memory_id")
    return {rule: PlanItemPage(sorted(first[rule], key=oldest), None, counts[rule.value]) for rule in rules}


def _with_memories(rows: QuerySet[CleanupPlanItem]) -> QuerySet[CleanupPlanItem]:
    return rows.select_related("memory__bank", "cluster")


def list_clusters(
    access: Access, plan_id: str | UUID | CleanupPlan, limit: int = 20, cursor: str | None = None
) -> tuple[list[list[CleanupPlanItem]], str | None]:
    """A page of clusters, each as its members with their memories, the kept one first; and the next cursor.

    Needs cleanup:plan. Raises NotFound, CursorInvalid, CursorMismatch.
    """
    access.require(KeyScope.CLEANUP_PLAN)
    plan = _read(access, plan_id)
    query = query_text(access.vault_id, access.actor.id, "clusters", plan.pk)
    rows = CleanupCluster.objects.filter(vault_id=access.vault_id, plan=plan)
    if cursor:
        rows = rows.filter(id__gt=UUID(str(decode_cursor(cursor, query).position[0])))
    found = list(rows.order_by("id")[: limit + 1])
    following = encode_cursor([str(found[limit - 1].pk)], query) if len(found) > limit else None
    seen = Memory.objects.visible_to(access).values("pk")
    items = CleanupPlanItem.objects.filter(cluster__in=found[:limit], memory__in=seen)
    members: dict[UUID, list[CleanupPlanItem]] = {cluster.pk: [] for cluster in found[:limit]}
    for item in _with_memories(items).order_by("-stays", "memory_id"):
        if item.cluster_id is not None:
            members[item.cluster_id].append(item)
    return [group for group in members.values() if group], following


def choose_items(access: Access, plan_id: str | UUID, choice: PlanChoice) -> CleanupPlan:
    """Change what is chosen of a plan; its count and hash change with it. Needs cleanup:plan.

    Somebody else's plan, and "never again", which later plans obey, need cleanup:apply: they are others' reviews.

    Raises NotFound, PlanNotReady, TrustTooLow for a keeper that may not stand for the others, Invalid.
    """
    access.require(KeyScope.CLEANUP_PLAN)
    if choice.never_again is not None:
        access.require(KeyScope.CLEANUP_APPLY)
    with transaction.atomic():
        plan = find_plan(access, plan_id, lock=True)
        if (plan.actor_kind, plan.actor_id) != (access.actor.kind, access.actor.id):
            access.require(KeyScope.CLEANUP_APPLY)
        if plan.state != PlanState.READY:
            raise PlanNotReady
        if choice.keeper is not None:
            _keep_instead(plan, choice.keeper)
        else:
            _tick(access, plan, choice)
        _count(plan)
    return plan


def _tick(access: Access, plan: CleanupPlan, choice: PlanChoice) -> None:
    items = CleanupPlanItem.objects.filter(plan=plan)
    if choice.memory_ids is not None:
        items = items.filter(memory_id__in=choice.memory_ids)
        if items.count() < len(set(choice.memory_ids)):
            error = FieldError("/memory_ids", "not_a_candidate", "names a memory that is not in this plan")
            raise Invalid(errors=[error])
    if choice.reason is not None:
        items = items.filter(reasons__contains=[choice.reason.value])
    if choice.never_again is not None:
        _exempt(access, items.filter(stays=False), choice.never_again, choice.reason)
        items.update(is_exempt=choice.never_again, is_ticked=not choice.never_again)
    if choice.ticked is not None:
        items.update(is_ticked=choice.ticked)


def _exempt(access: Access, items: QuerySet[CleanupPlanItem], never_again: bool, only: CleanupRule | None) -> None:
    named = [
        (memory_id, reason)
        for memory_id, reasons in items.values_list("memory_id", "reasons")
        for reason in reasons
        if only is None or reason == only
    ]
    if never_again:
        rows = [
            CleanupExemption(
                vault_id=access.vault_id,
                memory_id=memory_id,
                rule=reason,
                actor_kind=access.actor.kind,
                actor_id=access.actor.id,
            )
            for memory_id, reason in named
        ]
        CleanupExemption.objects.bulk_create(rows, ignore_conflicts=True, batch_size=1_000)
        record_audit(access, *(Audited("exempt_memory", "memory", memory_id) for memory_id, _ in named))
        return
    memories = {memory_id for memory_id, _ in named}
    rules = {reason for _, reason in named}
    CleanupExemption.objects.filter(vault_id=access.vault_id, memory_id__in=memories, rule__in=rules).delete()


def _keep_instead(plan: CleanupPlan, keeper_id: UUID) -> None:
    item = CleanupPlanItem.objects.filter(plan=plan, memory_id=keeper_id).exclude(cluster=None).first()
    if item is None or item.cluster_id is None:
        raise Invalid(errors=[FieldError("/keeper", "not_in_a_cluster", "is not a member of a cluster of this plan")])
    members = CleanupPlanItem.objects.filter(cluster_id=item.cluster_id)
    trusts = dict(members.values_list("memory_id", "memory__trust"))
    if not all(may_supersede(Trust(trusts[keeper_id]), Trust(trust)) for trust in trusts.values()):
        raise TrustTooLow
    members.update(stays=Q(memory_id=keeper_id))
    CleanupCluster.objects.filter(pk=item.cluster_id).update(kept_id=keeper_id)


def forget_plans(access: Access, memory_ids: Collection[UUID]) -> int:
    """Take erased memories out of every plan and exemption, in the transaction that erases them; how many rows."""
    rows = CleanupPlanItem.objects.filter(vault_id=access.vault_id, memory_id__in=memory_ids)
    ready = CleanupPlan.objects.filter(state=PlanState.READY.value, pk__in=rows.values("plan_id"))
    touched = list(ready.select_for_update())
    clusters = CleanupCluster.objects.filter(vault_id=access.vault_id)
    clusters.filter(proposed_id__in=memory_ids).update(proposed=None)
    clusters.filter(kept_id__in=memory_ids).update(kept=None)
    gone = rows.filter(stays=False).values_list("plan_id", flat=True)
    for plan_id, lost in Counter(gone).items():
        CleanupPlan.objects.filter(pk=plan_id).update(candidates=F("candidates") - lost)
    # What was looked for may quote what was erased, or name whose it was.
    CleanupPlan.objects.filter(pk__in=rows.values("plan_id")).update(query=None)
    removed = rows.delete()[0]
    removed += CleanupExemption.objects.filter(vault_id=access.vault_id, memory_id__in=memory_ids).delete()[0]
    for plan in touched:
        plan.refresh_from_db()
        _count(plan)
    return removed
