"""What a clean-up would archive, and why, as pure decisions: the seed's four rules, and more to opt in (CLN-01…10)."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal
from uuid import UUID

from memories.rules.vocabulary import IndexState, MemoryType


class CleanupRule(StrEnum):
    """Why a memory is a candidate."""

    STALE_EPISODIC = "stale_episodic"
    LOW_STALE = "low_stale"
    FAILED_INDEXING = "failed_indexing"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    NEVER_RECALLED = "never_recalled"
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    QUERY = "query"


#: The rules a setting may name: all that need nothing said with them.
type RuleName = Literal[
    "stale_episodic",
    "low_stale",
    "failed_indexing",
    "superseded",
    "expired",
    "never_recalled",
    "exact_duplicate",
    "near_duplicate",
]
#: What a clean-up without rules uses; everything else is opted in.
SEED_RULES = (
    CleanupRule.STALE_EPISODIC,
    CleanupRule.LOW_STALE,
    CleanupRule.FAILED_INDEXING,
    CleanupRule.SUPERSEDED,
)
#: Rules that compare memories: they name all but a keeper, which stands for the others afterwards.
CLUSTERING = (CleanupRule.EXACT_DUPLICATE, CleanupRule.NEAR_DUPLICATE)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When old is old and unimportant unimportant; the settings ``cleanup_…`` (CLN-07)."""

    episodic_age: dt.timedelta = dt.timedelta(days=30)
    episodic_importance: int = 2
    stale_after: dt.timedelta = dt.timedelta(days=14)
    stale_importance: int = 1
    unrecalled_after: dt.timedelta = dt.timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Subject:
    """What the rules look at in one memory."""

    id: UUID
    type: MemoryType
    importance: int
    created_at: dt.datetime
    updated_at: dt.datetime
    index_state: IndexState = IndexState.READY
    superseded: bool = False
    protected: bool = False
    archived: bool = False
    expires_at: dt.datetime | None = None
    recalled: bool = False
    version: int = 1
    #: Rules that found it by looking at more than itself: it is alike another one, or matches the query.
    named: frozenset[CleanupRule] = frozenset()
    #: Rules a person never wants to hear of it again.
    exempt: frozenset[CleanupRule] = frozenset()


@dataclass(frozen=True, slots=True)
class Verdict:
    """One candidate with every rule that names it, in the rules' own order."""

    id: UUID
    reasons: tuple[CleanupRule, ...]
    version: int = 1


type Check = Callable[[Subject, dt.datetime, Thresholds], bool]


def _named(rule: CleanupRule) -> Check:
    return lambda subject, at, limits: rule in subject.named


#: Ages are strict: exactly 30 days old is not yet older than 30 days (CLN-09).
CHECKS: Mapping[CleanupRule, Check] = {
    CleanupRule.STALE_EPISODIC: lambda subject, at, limits: (
        subject.type == MemoryType.EPISODIC
        and subject.importance <= limits.episodic_importance
        and at - subject.created_at > limits.episodic_age
    ),
    CleanupRule.LOW_STALE: lambda subject, at, limits: (
        subject.importance <= limits.stale_importance and at - subject.updated_at > limits.stale_after
    ),
    # The retries of indexing are used up: while a job still tries, the state is pending.
    CleanupRule.FAILED_INDEXING: lambda subject, at, limits: subject.index_state == IndexState.FAILED,
    CleanupRule.SUPERSEDED: lambda subject, at, limits: subject.superseded,
    # At its last moment it is gone from recall already (STA-09).
    CleanupRule.EXPIRED: lambda subject, at, limits: subject.expires_at is not None and subject.expires_at <= at,
    CleanupRule.NEVER_RECALLED: lambda subject, at, limits: (
        not subject.recalled and at - subject.created_at > limits.unrecalled_after
    ),
    CleanupRule.EXACT_DUPLICATE: _named(CleanupRule.EXACT_DUPLICATE),
    CleanupRule.NEAR_DUPLICATE: _named(CleanupRule.NEAR_DUPLICATE),
    CleanupRule.QUERY: _named(CleanupRule.QUERY),
}


def reasons_to_archive(
    subject: Subject,
    now: dt.datetime,
    thresholds: Thresholds | None = None,
    rules: Collection[CleanupRule] = SEED_RULES,
) -> tuple[CleanupRule, ...]:
    """Every rule among `rules` that names the memory; none for protected and archived ones (CLN-10)."""
    if subject.protected or subject.archived:
        return ()
    limits = thresholds or Thresholds()
    asked = (rule for rule in CHECKS if rule in rules and rule not in subject.exempt)
    return tuple(rule for rule in asked if CHECKS[rule](subject, now, limits))


def count_by_reason(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Rule → candidates it names; a candidate of two rules counts under both, so the sum may exceed the candidates."""
    return dict(Counter(reason.value for verdict in verdicts for reason in verdict.reasons))
