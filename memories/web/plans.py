"""The page of one clean-up plan: look, untick, keep another one, apply, watch, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.views.decorators.http import require_POST

from memories.rules.cleanupplans import PlanState
from memories.rules.cleanupwishes import PlanChoice
from memories.services.applying import PlanStale, apply_plan
from memories.services.plans import choose_items, get_plan
from memories.web.cleanup import plan_lines
from memories.web.planpage import plan_page
from memoryhub.lib.errors import Invalid
from memoryhub.lib.pages import SeeOther, answer_page, safe_next, say, warn

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.web.requests import HubRequest

DIGITS = 10
#: What a button does → what it sends to the service.
CHOICES: dict[str, dict[str, Any]] = {
    "tick": {"ticked": True},
    "untick": {"ticked": False},
    "never": {"never_again": True},
    "again": {"never_again": False},
}
SAID = {
    "never": "That rule will not name it again.",
    "again": "The rule may name it again.",
}


def plan(request: HubRequest, plan_id: UUID) -> HttpResponse:
    """What it would archive and why; while it is applied the page asks again by itself."""
    found = get_plan(request.access, plan_id)
    line = plan_lines(request.access, [found])[0]
    context = {"page": plan_page(request, found), "who": line.who, "is_applying": found.state == PlanState.APPLYING}
    return answer_page(request, "memories/plan.html", context, part="plan")


@require_POST
def choose(request: HubRequest, plan_id: UUID) -> HttpResponse:
    """Tick or untick one candidate or a whole rule, keep another one of a cluster, or never name one again."""
    wanted, sent = request.POST.get("do", ""), request.POST
    data = dict(CHOICES.get(wanted, {}))
    if wanted == "keep":
        data["keeper"] = sent.get("id", "")
    elif not data:
        raise Invalid("That button does nothing here; open the plan again.")
    else:
        if "id" in sent:
            data["memory_ids"] = [sent["id"]]
        if sent.get("rule"):
            data["reason"] = sent["rule"]
    choose_items(request.access, plan_id, PlanChoice.parse(data))
    if wanted in SAID:
        say(request, SAID[wanted])
    return SeeOther(safe_next(request, reverse("plan", args=[plan_id])))


@require_POST
def apply(request: HubRequest, plan_id: UUID) -> HttpResponse:
    """Archive what is chosen, if it is still what was looked at; a job does it."""
    sent, page = request.POST, reverse("plan", args=[plan_id])
    count = sent.get("expected_count", "")
    if not (count.isdecimal() and len(count) < DIGITS):
        raise Invalid("That form names no number of memories; open the plan again.")
    try:
        apply_plan(request.access, plan_id, int(count), sent.get("plan_hash", ""), "confirm_large" in sent)
    except PlanStale as error:
        now_chosen = error.extra["count"]
        what = "others are chosen now" if now_chosen == int(count) else f"{now_chosen:,} are chosen now"
        warn(request, f"You confirmed {int(count):,} memories, but {what}. Nothing was archived; look again.")
    return SeeOther(page)
