"""Clean-up plans in words: what each rule looks for, why one of several stays, how a plan stands, what was left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupclusters import KeptFor
from memories.rules.cleanupplans import PlanState, Skipped
from memories.web.rows import State

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class RuleText:
    """A rule for people."""

    title: str
    why: str
    icon: str


def rule_texts(limits: Mapping[str, int]) -> dict[CleanupRule, RuleText]:
    """Every rule with the thresholds that hold, by the names of the settings without ``cleanup_``."""
    return {
        CleanupRule.STALE_EPISODIC: RuleText(
            "Old episodes",
            f"Episodic, older than {limits['episodic_age_days']} days,"
            f" importance {limits['episodic_importance']} or less.",
            "clock",
        ),
        CleanupRule.LOW_STALE: RuleText(
            "Unimportant, untouched",
            f"Importance {limits['stale_importance']} or less, not changed for more than {limits['stale_days']} days.",
            "timer",
        ),
        CleanupRule.FAILED_INDEXING: RuleText(
            "Indexing failed",
            "Search by meaning cannot find it. It is tried once more before it goes.",
            "triangle-alert",
        ),
        CleanupRule.SUPERSEDED: RuleText(
            "Replaced, not archived",
            "A newer memory took its place. The hub archives such at once, so this rarely names any.",
            "replace",
        ),
        CleanupRule.EXPIRED: RuleText("Expired", "Its time is over; nothing recalls it any more.", "timer"),
        CleanupRule.NEVER_RECALLED: RuleText(
            "Never recalled", f"Older than {limits['unrecalled_days']} days, and no search ever returned it.", "eye-off"
        ),
        CleanupRule.EXACT_DUPLICATE: RuleText(
            "Exact duplicates", "Another memory has the very same text; the best of them stays.", "copy"
        ),
        CleanupRule.NEAR_DUPLICATE: RuleText(
            "Near duplicates", "Another memory says the same in other words; the best of them stays.", "layers"
        ),
        CleanupRule.QUERY: RuleText("Your query", "It matches what you asked for.", "search"),
    }


KEPT_FOR: Mapping[KeptFor, str] = {
    KeptFor.PROTECTED: "it is protected",
    KeptFor.TRUST: "it is trusted more",
    KeptFor.IMPORTANCE: "it is more important",
    KeptFor.CONFIDENCE: "it is surer",
    KeptFor.RECALLED: "it is recalled more often",
    KeptFor.NEWEST: "it is the newest",
}
STATES: Mapping[PlanState, State] = {
    PlanState.PLANNING: State("Being made", "loader-circle", "note"),
    PlanState.READY: State("To be reviewed", "eye", "warn"),
    PlanState.APPLYING: State("Being applied", "loader-circle", "note"),
    PlanState.APPLIED: State("Applied", "circle-check", "ok"),
    PlanState.UNDONE: State("Undone", "undo-2", faded=True),
    PlanState.FAILED: State("Stopped", "triangle-alert", "bad"),
    PlanState.EXPIRED: State("Too old", "timer", faded=True),
}
SKIPPED: Mapping[str, str] = {
    Skipped.CHANGED: "Edited since the plan was made",
    Skipped.WAS_ARCHIVED: "Archived already",
    Skipped.PROTECTED: "Protected since",
    Skipped.INDEXED: "Indexed after all",
    Skipped.NOT_RETRIED: "Indexing could not be tried again",
    Skipped.KEEPER_GONE: "The one to stay is not there any more",
    Skipped.KEEPER_CHANGED: "The one to stay was changed since",
    Skipped.TRUST_TOO_LOW: "The one to stay is trusted less",
    Skipped.GONE: "Erased since",
}
ARCHIVED = State("Archived", "archive", "ok")
BACK = State("Is back", "rotate-ccw", "note")


def left_as(code: str) -> str:
    """Why a chosen candidate was left as it is."""
    return SKIPPED.get(code, code.replace("_", " ").capitalize() or "Not reached")


def outcome_of(code: str, *, is_hidden: bool) -> State | None:
    """What became of a chosen candidate, which is hidden now or not; None while nothing did."""
    if not code:
        return None
    if code == "archived":
        return ARCHIVED if is_hidden else BACK
    return State(left_as(code), "shield", "warn")
