"""Clean-up, dry run: what would be archived and why, changing nothing (API-10, CLN-06)."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypedDict

from django.http import HttpResponse
from ninja import Router
from pydantic import Field, StrictBool

from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memory_out
from memories.rules.cleanup import CleanupRule
from memories.search.predecessors import predecessors
from memories.services import cleanup
from memoryhub.lib.answers import json_answer
from memoryhub.lib.errors import FieldError, Invalid
from memoryhub.lib.strict import StrictModel

router = Router()


class DryRunOnly(Invalid):
    """This hub shows what a clean-up would archive but does not apply one; send `dry_run: true`, or leave it out."""

    code: ClassVar[str] = "dry_run_only"


class Cleanup(StrictModel):
    """Which rules to try; without any, the four of the default set."""

    dry_run: StrictBool = True
    rules: Annotated[list[CleanupRule], Field(min_length=1, max_length=len(CleanupRule))] | None = None


class CandidateOut(TypedDict):
    """A memory the rules name, shortened, with every rule that names it."""

    memory: MemoryOut
    reasons: list[str]


class ThresholdsOut(TypedDict):
    """What the rules took for old and for unimportant, from the settings."""

    episodic_age_days: int
    episodic_importance: int
    stale_days: int
    stale_importance: int


class CleanupOut(TypedDict):
    """What would be archived: how many, by which rule, and the oldest 1,000 of them."""

    dry_run: bool
    count: int
    by_reason: dict[str, int]
    candidates: list[CandidateOut]
    thresholds: ThresholdsOut


@router.post("/cleanup", response=CleanupOut)
def cleanup_memories(request: ApiRequest, wanted: Cleanup = Cleanup()) -> HttpResponse:  # noqa: B008
    """What a clean-up would archive now; `dry_run` is true by default."""
    if not wanted.dry_run:
        raise DryRunOnly(errors=[FieldError("/dry_run", "dry_run_only", "must be true")])
    preview = cleanup.plan_cleanup(request.access, wanted.rules)
    replaced = predecessors(request.access, [candidate.memory.pk for candidate in preview.candidates])
    limits = preview.thresholds
    body: CleanupOut = {
        "dry_run": True,
        "count": preview.count,
        "by_reason": preview.by_reason,
        "candidates": [
            {"memory": memory_out(one.memory, replaced.get(one.memory.pk), compact=True), "reasons": list(one.reasons)}
            for one in preview.candidates
        ],
        "thresholds": {
            "episodic_age_days": limits.episodic_age.days,
            "episodic_importance": limits.episodic_importance,
            "stale_days": limits.stale_after.days,
            "stale_importance": limits.stale_importance,
        },
    }
    return json_answer(body)
