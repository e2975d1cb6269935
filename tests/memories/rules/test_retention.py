"""What a bank keeps, as a table."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from memories.rules.retention import (
    LEAST_PURGED,
    Holding,
    RetentionPolicy,
    RetentionReason,
    concerns,
    purged_before,
    to_archive,
)
from memories.rules.vocabulary import MemoryCategory, MemoryType
from memoryhub.lib.ids import new_id

NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
ON = RetentionPolicy(enabled=True)


def holding(age: float = 0, idle: float | None = None, **more: object) -> Holding:
    idle = age if idle is None else idle
    base = Holding(new_id(), MemoryType.FACT, None, NOW - age * DAY, NOW - idle * DAY, False)
    return replace(base, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "policy, one, reason",
    [
        (replace(ON, max_age=90 * DAY), holding(91), RetentionReason.AGE),
        (replace(ON, max_age=90 * DAY), holding(90), None),
        (replace(ON, inactive_for=30 * DAY), holding(400, idle=31), RetentionReason.INACTIVE),
        (replace(ON, inactive_for=30 * DAY), holding(400, idle=30), None),
        (replace(ON, max_age=90 * DAY, enabled=False), holding(91), None),
        (replace(ON, max_age=90 * DAY), holding(91, is_protected=True), None),
        (ON, holding(10_000), None),
    ],
    ids=["old", "just not old", "unused", "just used", "switched off", "protected", "no limit"],
)
def test_why_one_memory_is_archived(policy, one, reason):
    """PRN-14: by age, by inactivity; never a protected one."""
    assert to_archive(policy, [one], NOW) == ({} if reason is None else {one.id: reason})


@pytest.mark.parametrize(
    "policy, one, expected",
    [
        (ON, holding(type=MemoryType.CONSTRAINT), False),
        (ON, holding(type=MemoryType.CORRECTION), False),
        (replace(ON, types=frozenset({MemoryType.CONSTRAINT})), holding(type=MemoryType.CONSTRAINT), True),
        (replace(ON, types=frozenset({MemoryType.TASK})), holding(), False),
        (replace(ON, categories=frozenset({MemoryCategory.EPISODIC})), holding(), False),
        (
            replace(ON, categories=frozenset({MemoryCategory.EPISODIC})),
            holding(category=MemoryCategory.EPISODIC),
            True,
        ),
    ],
    ids=["constraints stay", "corrections stay", "unless named", "other type", "no category", "its category"],
)
def test_which_kinds_a_policy_concerns(policy, one, expected):
    """PRN-12: what would cost most goes only when somebody names it."""
    assert concerns(policy, one) is expected


def test_the_least_recently_needed_are_too_many():
    """PRN-01: above the number, in the order in which they were last needed; protected ones take no place."""
    held = [holding(idle=idle) for idle in (5, 1, 9)] + [holding(idle=99, is_protected=True)]
    assert to_archive(replace(ON, max_memories=2), held, NOW) == {held[2].id: RetentionReason.COUNT}


def test_what_goes_by_age_is_not_counted_as_too_many():
    held = [holding(100), holding(2), holding(1)]
    policy = replace(ON, max_age=90 * DAY, max_memories=2)
    assert to_archive(policy, held, NOW) == {held[0].id: RetentionReason.AGE}


def test_nothing_is_purged_that_can_still_be_undone():
    """CON-17: thirty days at least, whatever is asked for; nothing while it is not asked for."""
    assert purged_before(ON, None, NOW) is None
    assert purged_before(replace(ON, enabled=False), 40 * DAY, NOW) is None
    assert purged_before(ON, 40 * DAY, NOW) == NOW - 40 * DAY
    assert purged_before(ON, DAY, NOW) == NOW - LEAST_PURGED
