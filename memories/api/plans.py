"""Clean-up plans: make one, look through it, change what is chosen, apply it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router
from pydantic import Field, StrictBool, StrictInt, with_config

from banks.access import Access, KeyScope
from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memories_out
from memories.models import CleanupPlan, CleanupPlanItem
from memories.rules import limits
from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupplans import PlanState
from memories.rules.cleanupwishes import CleanupWish, PlanChoice
from memories.services import applying, plans
from memories.services.applying import PlanAboveCap, PlanStale
from memories.services.cleanup import QueryNotUnderstood
from memories.services.plans import PlanNotReady
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.sealing import opened
from memoryhub.lib.strict import StrictModel

router = Router()


class PageOfPlans(StrictModel):
    """Which part of a list."""

    limit: Annotated[int, Field(ge=1, le=limits.PAGE_MAX)] = 50
    cursor: str | None = None


class ItemsWanted(PageOfPlans):
    """Which candidates of a plan: of one reason, one cluster, ticked or not, with one outcome."""

    reason: CleanupRule | None = None
    ticked: bool | None = None
    outcome: Annotated[str, Field(max_length=14)] | None = None
    cluster_id: UUID | None = None


class Confirmation(StrictModel):
    """What the caller saw: the count and the hash of the plan; and once more for a plan above the cap."""

    model_config = shown(
        {"expected_count": 12, "plan_hash": "5d1f0c7e9b3a48266f0e6f1c9a7d2b4458c3e1a0b9d7f6e5c4b3a29180716253"}
    )

    expected_count: Annotated[StrictInt, Field(ge=0, le=2**31 - 1)]
    plan_hash: Annotated[str, Field(min_length=64, max_length=64)]
    confirm_large: StrictBool = False


@with_config(
    shown(
        {
            "state": "ready",
            "rules": ["stale_episodic", "low_stale"],
            "candidates_total": 14,
            "count": 12,
            "by_reason": {"stale_episodic": 9, "low_stale": 3},
            "plan_hash": "5d1f0c7e9b3a48266f0e6f1c9a7d2b4458c3e1a0b9d7f6e5c4b3a29180716253",
            "most_without_asking": 100,
        }
    )
)
class PlanOut(TypedDict):
    """A plan; `count`, `by_reason` and `plan_hash` are about what is chosen now, `candidates` about all of them.

    More than `most_without_asking` need `confirm_large`.
    """

    id: UUID
    state: Annotated[str, Word(PlanState)]
    rules: list[Annotated[str, Word(CleanupRule)]]
    query: str | None
    thresholds: dict[str, int]
    candidates_total: int
    count: int
    by_reason: dict[str, int]
    plan_hash: str
    most_without_asking: int
    skipped: dict[str, int]
    job_id: UUID | None
    changeset_id: UUID | None
    created_at: dt.datetime
    applied_at: dt.datetime | None


@with_config(shown({"version": 7, "reasons": ["stale_episodic"], "ticked": True}))
class PlanItemOut(TypedDict):
    """A candidate: its memory as it is now, the version it was planned at, why, and what is chosen.

    In a cluster, `keeper_id` is the memory that stays; `stays` marks that one itself, and `why_kept` says what told it
    from the others when it was `proposed`.
    """

    memory: MemoryOut
    version: int
    reasons: list[Annotated[str, Word(CleanupRule)]]
    ticked: bool
    never_again: bool
    stays: bool
    cluster_id: UUID | None
    keeper_id: UUID | None
    proposed_keeper_id: UUID | None
    why_kept: str | None
    similarity: float | None
    outcome: str | None


class PlanList(TypedDict):
    """Newest first; ``next_cursor`` is null at the end."""

    items: list[PlanOut]
    next_cursor: str | None


@with_config(shown({"total": 1}))
class PlanItemList(TypedDict):
    """Oldest memories first; ``next_cursor`` is null at the end."""

    items: list[PlanItemOut]
    next_cursor: str | None
    total: int


def plan_out(access: Access, plan: CleanupPlan, most: int | None = None) -> PlanOut:
    """One plan."""
    return {
        "id": plan.pk,
        "state": plan.state,
        "rules": plan.rules,
        "query": opened(plan, "query"),
        "thresholds": plan.thresholds,
        "candidates_total": plan.candidates,
        "count": plan.count,
        "by_reason": plan.by_reason,
        "plan_hash": plan.plan_hash,
        "most_without_asking": applying.cap_of(access) if most is None else most,
        "skipped": plan.skipped,
        "job_id": plan.job_id,
        "changeset_id": plan.changeset_id,
        "created_at": plan.created_at,
        "applied_at": plan.applied_at,
    }


def items_out(access: Access, items: Sequence[CleanupPlanItem]) -> list[PlanItemOut]:
    """Several candidates."""
    shown = memories_out(access, [item.memory for item in items], compact=True)
    return [
        {
            "memory": memory,
            "version": item.version,
            "reasons": item.reasons,
            "ticked": item.is_ticked,
            "never_again": item.is_exempt,
            "stays": item.stays,
            "cluster_id": item.cluster_id,
            "keeper_id": item.cluster.kept_id if item.cluster else None,
            "proposed_keeper_id": item.cluster.proposed_id if item.cluster else None,
            "why_kept": item.cluster.why if item.cluster else None,
            "similarity": item.similarity,
            "outcome": item.outcome or None,
        }
        for item, memory in zip(items, shown, strict=True)
    ]


@router.post(
    "/cleanup/plans", response={201: PlanOut}, **told("Make a clean-up plan", KeyScope.CLEANUP_PLAN, QueryNotUnderstood)
)
def create_plan(request: ApiRequest, wish: CleanupWish = CleanupWish()) -> HttpResponse:  # noqa: B008
    """Keep what a clean-up would archive now, to be looked through; no memory changes."""
    plan = plans.create_plan(request.access, wish)
    return json_answer(plan_out(request.access, plan), status=201)


@router.get("/cleanup/plans", response=PlanList, **told("List clean-up plans", KeyScope.CLEANUP_PLAN))
def list_plans(request: ApiRequest, wanted: Query[PageOfPlans]) -> HttpResponse:
    """Clean-up plans, newest first."""
    access = request.access
    page, most = plans.list_plans(access, wanted.limit, wanted.cursor), applying.cap_of(access)
    return json_answer(
        {"items": [plan_out(access, plan, most) for plan in page.items], "next_cursor": page.next_cursor}
    )


@router.get("/cleanup/plans/{plan_id}", response=PlanOut, **told("Read a clean-up plan", KeyScope.CLEANUP_PLAN))
def get_plan(request: ApiRequest, plan_id: str) -> HttpResponse:
    """One plan with its state."""
    return json_answer(plan_out(request.access, plans.get_plan(request.access, plan_id)))


@router.get(
    "/cleanup/plans/{plan_id}/items",
    response=PlanItemList,
    **told("List the candidates of a plan", KeyScope.CLEANUP_PLAN),
)
def list_plan_items(request: ApiRequest, plan_id: str, wanted: Query[ItemsWanted]) -> HttpResponse:
    """The candidates of a plan, and what is chosen of them."""
    asked = plans.PlanItemFilter(wanted.reason, wanted.ticked, wanted.outcome, wanted.cluster_id)
    page = plans.list_plan_items(request.access, plan_id, asked, wanted.limit, wanted.cursor)
    items = items_out(request.access, page.items)
    return json_answer({"items": items, "next_cursor": page.next_cursor, "total": page.total})


@router.patch(
    "/cleanup/plans/{plan_id}/items",
    response=PlanOut,
    **told("Choose among the candidates of a plan", KeyScope.CLEANUP_PLAN, PlanNotReady),
)
def choose_items(request: ApiRequest, plan_id: str, choice: PlanChoice) -> HttpResponse:
    """Tick or untick candidates, never name them again, or keep another one of a cluster; the new count and hash."""
    return json_answer(plan_out(request.access, plans.choose_items(request.access, plan_id, choice)))


@router.post(
    "/cleanup/plans/{plan_id}/apply",
    response={202: PlanOut},
    **told("Apply a clean-up plan", KeyScope.CLEANUP_APPLY, PlanStale, PlanAboveCap, PlanNotReady),
)
def apply_plan(request: ApiRequest, plan_id: str, seen: Confirmation) -> HttpResponse:
    """Archive what is chosen, in the background, as one changeset that can be undone."""
    plan = applying.apply_plan(request.access, plan_id, seen.expected_count, seen.plan_hash, seen.confirm_large)
    return json_answer(plan_out(request.access, plan), status=202)
