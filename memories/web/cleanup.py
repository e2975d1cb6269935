"""Clean-up: choose rules, see what they would archive as a plan, and every plan there was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.views.decorators.http import require_http_methods

from banks.access import KeyScope
from memories.rules.cleanup import CLUSTERING, SEED_RULES, CleanupRule
from memories.rules.cleanupplans import PlanState
from memories.rules.cleanupwishes import CleanupWish
from memories.services.plans import create_plan, list_plans
from memories.services.settings import read_settings
from memories.web.actors import names_of
from memories.web.addresses import Address
from memories.web.planwords import STATES, RuleText, rule_texts
from memoryhub.lib.errors import Invalid
from memoryhub.lib.pages import SeeOther, answer_page, in_words
from memoryhub.lib.pagination import CursorInvalid, CursorMismatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpResponse

    from banks.access import Access
    from memories.models import CleanupPlan
    from memories.web.requests import HubRequest
    from memories.web.rows import State

PAGE = 20
LIMITS = ("episodic_age_days", "episodic_importance", "stale_days", "stale_importance", "unrecalled_days")


@dataclass(frozen=True, slots=True)
class Offer:
    """A rule to tick."""

    rule: str
    text: RuleText
    ticked: bool


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One plan of the list."""

    plan: CleanupPlan
    url: str
    who: str
    state: State
    rules: list[str]


@require_http_methods(["GET", "HEAD", "POST"])
def cleanup(request: HubRequest) -> HttpResponse:
    """The rules to choose from and the plans there are; sent, it makes a plan and leads there. Changes no memory."""
    mistake = ""
    if request.method == "POST":
        try:
            plan = create_plan(request.access, _wish(request))
        except Invalid as error:
            mistake = in_words(error, {"rules": "Rules", "query": "Query"})
        else:
            return SeeOther(reverse("plan", args=[plan.pk]))
    held = read_settings(request.access)
    texts = rule_texts({name: held[f"cleanup_{name}"].value for name in LIMITS})
    asked = request.POST if request.method == "POST" else None
    ticked = set(asked.getlist("rule")) if asked is not None else {rule.value for rule in SEED_RULES}
    offers = [Offer(rule, texts[rule], rule in ticked) for rule in CleanupRule if rule != CleanupRule.QUERY]
    cursor = request.GET.get("cursor") or None
    context = {
        "usual": [one for one in offers if one.rule in SEED_RULES],
        "more": [one for one in offers if one.rule not in {*SEED_RULES, *CLUSTERING}],
        "alike": [one for one in offers if one.rule in CLUSTERING],
        "query": asked.get("query", "") if asked is not None else "",
        "mistake": mistake,
        "may_apply": request.access.has(KeyScope.CLEANUP_APPLY),
        **_plans(request, cursor),
    }
    return answer_page(request, "memories/cleanup.html", context, status=422 if mistake else 200)


def _wish(request: HubRequest) -> CleanupWish:
    sent: dict[str, Any] = {}
    if rules := request.POST.getlist("rule"):
        sent["rules"] = rules
    if query := request.POST.get("query", "").strip():
        sent["query"] = query
    if not sent:
        raise Invalid("Choose at least one rule, or say what to look for.")
    return CleanupWish.parse(sent)


def _plans(request: HubRequest, cursor: str | None) -> dict[str, Any]:
    try:
        page = list_plans(request.access, PAGE, cursor)
    except (CursorInvalid, CursorMismatch):
        page = list_plans(request.access, PAGE)
    here = Address(request.path)
    older = str(here.having(cursor=page.next_cursor)) if page.next_cursor else ""
    return {"plans": plan_lines(request.access, page.items), "older_url": older}


def plan_lines(access: Access, found: Sequence[CleanupPlan]) -> list[PlanLine]:
    """Several plans in words."""
    who = names_of(access, {(plan.actor_kind, plan.actor_id) for plan in found})
    return [
        PlanLine(
            plan=plan,
            url=reverse("plan", args=[plan.pk]),
            who=who((plan.actor_kind, plan.actor_id)),
            state=STATES[PlanState(plan.state)],
            rules=[rule_texts(plan.thresholds)[CleanupRule(rule)].title for rule in plan.rules],
        )
        for plan in found
    ]
