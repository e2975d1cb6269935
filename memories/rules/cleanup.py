"""What a clean-up would archive, and why: the four rules of the seed as pure decisions (CLN-01 to CLN-10)."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from memories.rules.vocabulary import IndexState, MemoryType


class CleanupRule(StrEnum):
    """Why a memory is a candidate."""

    STALE_EPISODIC = "stale_episodic"
    LOW_STALE = "low_stale"
    FAILED_INDEXING = "failed_indexing"
    SUPERSEDED = "superseded"


SEED_RULES = tuple(CleanupRule)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When old is old and unimportant unimportant; the settings ``cleanup_…`` (CLN-07)."""

    episodic_age: dt.timedelta = dt.timedelta(days=30)
    episodic_importance: int = 2
    stale_after: dt.timedelta = dt.timedelta(days=14)
    stale_importance: int = 1


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


@dataclass(frozen=True, slots=True)
class Verdict:
    """One candidate with every rule that names it, in the rules' own order."""

    id: UUID
    reasons: tuple[CleanupRule, ...]


def reasons_to_archive(
    subject: Subject,
    now: dt.datetime,
    thresholds: Thresholds | None = None,
    rules: Collection[CleanupRule] = SEED_RULES,
) -> tuple[CleanupRule, ...]:
    """Every rule among `rules` that names the memory; none for protected and archived ones (CLN-10).

    Ages are strict: exactly 30 days old is not yet older than 30 days (CLN-09). ``failed`` means that the retries of
    indexing are used up: while a job still tries, the state is ``pending``.
    """
    if subject.protected or subject.archived:
        return ()
    limits = thresholds or Thresholds()
    applies = {
        CleanupRule.STALE_EPISODIC: subject.type == MemoryType.EPISODIC
        and now - subject.created_at > limits.episodic_age
        and subject.importance <= limits.episodic_importance,
        CleanupRule.LOW_STALE: subject.importance <= limits.stale_importance
        and now - subject.updated_at > limits.stale_after,
        CleanupRule.FAILED_INDEXING: subject.index_state == IndexState.FAILED,
        CleanupRule.SUPERSEDED: subject.superseded,
    }
    return tuple(rule for rule in CleanupRule if rule in rules and applies[rule])


def judge(
    subjects: Iterable[Subject],
    now: dt.datetime,
    thresholds: Thresholds | None = None,
    rules: Collection[CleanupRule] = SEED_RULES,
) -> list[Verdict]:
    """The candidates among `subjects`, each once, in their order (CLN-08)."""
    judged = ((subject.id, reasons_to_archive(subject, now, thresholds, rules)) for subject in subjects)
    return [Verdict(memory_id, reasons) for memory_id, reasons in judged if reasons]


def count_by_reason(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Rule → candidates it names; a candidate of two rules counts under both, so the sum may exceed the candidates."""
    return dict(Counter(reason.value for verdict in verdicts for reason in verdict.reasons))
