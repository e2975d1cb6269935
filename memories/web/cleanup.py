"""The dry run: what a clean-up would archive, and why. Looking changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.rules.cleanup import CleanupRule, Thresholds
from memories.services.cleanup import plan_cleanup
from memories.web.actors import agent_names
from memories.web.rows import MemoryRow, row_of
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from memories.web.requests import HubRequest

SHOWN = 50


@dataclass(frozen=True, slots=True)
class RuleText:
    """A rule for people."""

    title: str
    why: str
    icon: str


@dataclass(frozen=True, slots=True)
class ReasonGroup:
    """The candidates one rule names; a candidate of two rules is in both groups and counts once in the total."""

    rule: str
    text: RuleText
    count: int
    rows: list[MemoryRow]

    @property
    def more(self) -> int:
        """How many are not shown."""
        return self.count - len(self.rows)


def rule_texts(limits: Thresholds) -> dict[str, RuleText]:
    """The four rules with the thresholds that hold now."""
    return {
        CleanupRule.STALE_EPISODIC: RuleText(
            "Old episodes",
            f"Episodic, older than {limits.episodic_age.days} days, importance {limits.episodic_importance} or less.",
            "clock",
        ),
        CleanupRule.LOW_STALE: RuleText(
            "Unimportant, untouched",
            f"Importance {limits.stale_importance} or less, not changed for more than {limits.stale_after.days} days.",
            "timer",
        ),
        CleanupRule.FAILED_INDEXING: RuleText(
            "Indexing failed", "Search by meaning cannot find it, and every retry is used up.", "triangle-alert"
        ),
        CleanupRule.SUPERSEDED: RuleText("Replaced", "A newer memory took its place.", "replace"),
    }


def cleanup(request: HubRequest) -> HttpResponse:
    """Candidates grouped by reason (CLN-06, CLN-08)."""
    preview = plan_cleanup(request.access)
    agents = agent_names(request.access)
    groups = [
        ReasonGroup(
            rule=rule,
            text=text,
            count=preview.by_reason.get(rule, 0),
            rows=[row_of(one.memory, agents) for one in preview.candidates if rule in one.reasons][:SHOWN],
        )
        for rule, text in rule_texts(preview.thresholds).items()
    ]
    context = {"groups": groups, "count": preview.count}
    return answer_page(request, "memories/cleanup.html", context)
