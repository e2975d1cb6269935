"""The seed's four clean-up rules at their exact boundaries (CLN-01 to CLN-10)."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from memories.rules.cleanup import (
    SEED_RULES,
    CleanupRule,
    Subject,
    Thresholds,
    Verdict,
    count_by_reason,
    reasons_to_archive,
)
from memories.rules.vocabulary import IndexState, MemoryType

NOW = dt.datetime(2026, 11, 21, 12, 0, tzinfo=dt.UTC)
FRESH = Subject(UUID(int=1), MemoryType.FACT, 3, NOW, NOW)
DAY, SECOND = dt.timedelta(days=1), dt.timedelta(seconds=1)
EPISODIC, LOW, FAILED, GONE = SEED_RULES


def aged(age: dt.timedelta, unchanged: dt.timedelta | None = None, **more: Any) -> Subject:
    return replace(FRESH, created_at=NOW - age, updated_at=NOW - (age if unchanged is None else unchanged), **more)


def test_a_fresh_memory_stays():
    assert reasons_to_archive(FRESH, NOW) == ()


@pytest.mark.parametrize(
    ("age", "importance", "kind", "named"),
    [
        (30 * DAY, 2, MemoryType.EPISODIC, False),
        (30 * DAY + SECOND, 2, MemoryType.EPISODIC, True),
        (30 * DAY + SECOND, 3, MemoryType.EPISODIC, False),
        (300 * DAY, 2, MemoryType.FACT, False),
        (300 * DAY, 2, MemoryType.TASK, False),
        (29 * DAY, 2, MemoryType.EPISODIC, False),
    ],
)
def test_stale_episodic(age: dt.timedelta, importance: int, kind: MemoryType, named: bool):
    """CLN-02, CLN-09: 30 d 0 s not archived, 30 d + 1 s archived; importance 2 yes, 3 no."""
    assert (EPISODIC in reasons_to_archive(aged(age, importance=importance, type=kind), NOW)) is named


@pytest.mark.parametrize(
    ("unchanged", "importance", "named"),
    [
        (14 * DAY, 1, False),
        (14 * DAY + SECOND, 1, True),
        (14 * DAY + SECOND, 2, False),
        (13 * DAY, 1, False),
    ],
)
def test_low_stale(unchanged: dt.timedelta, importance: int, named: bool):
    """CLN-03, CLN-09: what counts is the last change, not the age."""
    assert (LOW in reasons_to_archive(aged(400 * DAY, unchanged, importance=importance), NOW)) is named


@pytest.mark.parametrize("state", IndexState)
def test_failed_indexing(state: IndexState):
    """CLN-04, CLN-10: failed means that retrying is over; while it goes on the state is pending."""
    assert (FAILED in reasons_to_archive(replace(FRESH, index_state=state), NOW)) is (state == IndexState.FAILED)


def test_superseded():
    """CLN-05, SUP-05."""
    assert reasons_to_archive(replace(FRESH, superseded=True), NOW) == (GONE,)


ALL_FOUR = aged(90 * DAY, type=MemoryType.EPISODIC, importance=1, index_state=IndexState.FAILED, superseded=True)


def test_a_memory_of_several_rules_is_one_candidate():
    """CLN-08: counted once, with all its reasons."""
    reasons = reasons_to_archive(ALL_FOUR, NOW)
    assert reasons == (EPISODIC, LOW, FAILED, GONE)
    assert count_by_reason([Verdict(ALL_FOUR.id, reasons)]) == dict.fromkeys(
        ("stale_episodic", "low_stale", "failed_indexing", "superseded"), 1
    )


@pytest.mark.parametrize("spared", [{"protected": True}, {"archived": True}])
def test_protected_and_archived_memories_are_never_candidates(spared: dict[str, Any]):
    """CLN-10."""
    assert reasons_to_archive(replace(ALL_FOUR, **spared), NOW) == ()


@pytest.mark.parametrize("rule", SEED_RULES)
def test_rules_can_be_chosen(rule: CleanupRule):
    assert reasons_to_archive(ALL_FOUR, NOW, rules=[rule]) == (rule,)
    assert reasons_to_archive(ALL_FOUR, NOW, rules=[]) == ()


def test_thresholds_can_be_changed():
    """CLN-07."""
    week = Thresholds(episodic_age=7 * DAY, episodic_importance=4, stale_after=2 * DAY, stale_importance=3)
    memory = aged(8 * DAY, 3 * DAY, type=MemoryType.EPISODIC, importance=3)
    assert reasons_to_archive(memory, NOW) == ()
    assert reasons_to_archive(memory, NOW, week) == (EPISODIC, LOW)


@pytest.mark.parametrize(("expires_in", "named"), [(None, False), (SECOND, False), (0 * SECOND, True), (-SECOND, True)])
def test_expired(expires_in: dt.timedelta | None, named: bool):
    """STA-09: at its last moment recall has let go of it already."""
    memory = replace(FRESH, expires_at=None if expires_in is None else NOW + expires_in)
    assert bool(reasons_to_archive(memory, NOW, rules=[CleanupRule.EXPIRED])) is named


@pytest.mark.parametrize(
    ("age", "recalled", "named"), [(90 * DAY, False, False), (90 * DAY + SECOND, False, True), (999 * DAY, True, False)]
)
def test_never_recalled(age: dt.timedelta, recalled: bool, named: bool):
    memory = aged(age, recalled=recalled)
    assert bool(reasons_to_archive(memory, NOW, rules=[CleanupRule.NEVER_RECALLED])) is named


@pytest.mark.parametrize("rule", [rule for rule in CleanupRule if rule not in SEED_RULES])
def test_everything_else_is_opted_in(rule: CleanupRule):
    """DESIGN §8: without rules, the seed's four."""
    everything = aged(91 * DAY, expires_at=NOW - DAY, named=frozenset(CleanupRule))
    assert rule not in reasons_to_archive(everything, NOW)
    assert reasons_to_archive(everything, NOW, rules=[rule]) == (rule,)


def test_what_a_person_exempted_is_not_named_by_that_rule_again():
    assert reasons_to_archive(replace(ALL_FOUR, exempt=frozenset({LOW})), NOW) == (EPISODIC, FAILED, GONE)
