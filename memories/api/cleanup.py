"""Clean-up in one call: what would be archived and why; or do it (API-10, CLN-06)."""

from __future__ import annotations

from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router
from pydantic import Field, StrictBool, with_config

from banks.access import KeyScope
from memories.api.plans import PlanOut, plan_out
from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memories_out
from memories.rules import limits
from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupwishes import CleanupWish, Rules
from memories.services import applying, plans
from memories.services.applying import PlanAboveCap
from memories.services.cleanup import QueryNotUnderstood
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.strict import StrictModel

router = Router()
SHOWN_MAX = 1_000


class Cleanup(StrictModel):
    """Which rules to use, the seed's four by default; nothing is archived unless `dry_run` is false."""

    model_config = shown({"dry_run": True, "rules": ["stale_episodic", "low_stale"]})

    dry_run: StrictBool = True
    rules: Rules | None = None
    query: Annotated[str, Field(min_length=1, max_length=limits.QUERY_MAX, pattern=r"\S")] | None = None


@with_config(shown({"reasons": ["stale_episodic"]}))
class CandidateOut(TypedDict):
    """A memory the rules name, shortened, with every rule that names it, and the memory that would stand for it."""

    memory: MemoryOut
    reasons: list[Annotated[str, Word(CleanupRule)]]
    keeper_id: UUID | None


@with_config(
    shown(
        {
            "state": "ready",
            "rules": ["stale_episodic", "low_stale"],
            "candidates_total": 12,
            "count": 12,
            "by_reason": {"stale_episodic": 9, "low_stale": 3},
            "plan_hash": "5d1f0c7e9b3a48266f0e6f1c9a7d2b4458c3e1a0b9d7f6e5c4b3a29180716253",
            "most_without_asking": 100,
            "dry_run": True,
        }
    )
)
class CleanupOut(PlanOut):
    """The plan, and the oldest 1,000 of its candidates. Not a dry run: it is being applied by the job it names."""

    dry_run: bool
    candidates: list[CandidateOut]


@router.post(
    "/cleanup",
    response={200: CleanupOut, 202: CleanupOut},
    **told("Clean up in one call", KeyScope.CLEANUP_PLAN, PlanAboveCap, QueryNotUnderstood),
)
def cleanup_memories(request: ApiRequest, wanted: Cleanup = Cleanup()) -> HttpResponse:  # noqa: B008
    """What a clean-up would archive now, kept as a plan; with `dry_run` false it is applied at once."""
    access = request.access
    wish = CleanupWish.parse({name: value for name in ("rules", "query") if (value := getattr(wanted, name))})
    plan = applying.cleanup_memories(access, wish, wanted.dry_run)
    asked = plans.PlanItemFilter(ticked=True)
    items = plans.list_plan_items(access, plan.pk, asked, SHOWN_MAX).items
    shown = memories_out(access, [item.memory for item in items], compact=True)
    candidates: list[CandidateOut] = [
        {"memory": memory, "reasons": item.reasons, "keeper_id": item.cluster.kept_id if item.cluster else None}
        for item, memory in zip(items, shown, strict=True)
    ]
    body: CleanupOut = {**plan_out(access, plan), "dry_run": wanted.dry_run, "candidates": candidates}
    return json_answer(body, status=200 if wanted.dry_run else 202)
