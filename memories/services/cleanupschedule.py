"""The clean-up that comes round by itself: off by default, and only a plan unless the vault named the rule (CFG-01)."""

from __future__ import annotations

from collections.abc import Collection

import structlog
from django.db import transaction

from banks.access import Access
from memories.models import CleanupPlan, Job
from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupplans import PlanState, is_expired, split_by_hand
from memories.rules.cleanupwishes import CleanupWish
from memories.services.applying import PlanAboveCap, apply_plan
from memories.services.cleanup import find_candidates
from memories.services.context import WriteContext
from memories.services.jobs import finish_job, report_progress
from memories.services.plans import create_plan
from memoryhub.lib.clock import now

log = structlog.get_logger(__name__)


def plan_scheduled(access: Access, job: Job) -> int:
    """Body of the job: apply what the vault has named, up to its cap, and leave a plan of the rest; how many plans.

    Nothing is kept where there is nothing to do, or where a plan of these rules still waits. Raises JobLost.
    """
    settings = WriteContext.of(access).settings
    named = [CleanupRule(rule) for rule in settings["cleanup_auto_apply"]]
    automatic, by_hand = split_by_hand([CleanupRule(rule) for rule in settings["cleanup_rules"]], named)
    made = 0
    report_progress(job, 0, 2, "planning")
    if automatic and (plan := _planned(access, automatic)):
        made += 1
        try:
            apply_plan(access, plan.pk, plan.count, plan.plan_hash)
        except PlanAboveCap:
            log.warning("scheduled_cleanup_above_cap", vault_id=str(access.vault_id), count=plan.count)
    report_progress(job, 1, 2, "planning")
    if by_hand and not _waits(access, by_hand) and _planned(access, by_hand):
        made += 1
    with transaction.atomic():
        finish_job(job)
    return made


def _planned(access: Access, rules: Collection[CleanupRule]) -> CleanupPlan | None:
    wish = CleanupWish(rules=list(rules))
    return create_plan(access, wish) if find_candidates(access, wish).verdicts else None


def _waits(access: Access, rules: Collection[CleanupRule]) -> bool:
    waiting = CleanupPlan.objects.filter(vault_id=access.vault_id, state=PlanState.READY.value)
    latest = waiting.filter(rules=[rule.value for rule in rules]).order_by("-id").first()
    days = WriteContext.of(access).settings["cleanup_plan_days"]
    return latest is not None and not is_expired(PlanState(latest.state), latest.created_at, now(), days)
