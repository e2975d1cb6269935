"""What may be done with a plan: its hash, the cap, its age, and what still applies."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from uuid import UUID

import pytest

from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupplans import (
    Chosen,
    PlanState,
    Present,
    Skipped,
    hash_of,
    is_expired,
    most_without_asking,
    why_skip,
)
from memories.rules.vocabulary import IndexState, Status, Trust

NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
ONE, OTHER = UUID(int=1), UUID(int=2)


def test_the_hash_covers_every_part_and_no_order():
    """DESIGN §8: what a person saw is what is applied."""
    chosen = [Chosen(ONE, 1), Chosen(OTHER, 2, ONE)]
    assert hash_of(chosen) == hash_of(reversed(chosen))
    changed = [[Chosen(ONE, 1)], [Chosen(ONE, 2), chosen[1]], [chosen[0], Chosen(OTHER, 2)], []]
    assert len({hash_of(one) for one in [chosen, *changed]}) == 5


@pytest.mark.parametrize("live, share, most", [(100, 0.2, 20), (99, 0.2, 19), (10, 0.3, 3), (4, 0.2, 0), (7, 1.0, 7)])
def test_exactly_the_share_is_fine(live, share, most):
    assert most_without_asking(live, share) == most


@pytest.mark.parametrize(
    "state, age, expired",
    [
        (PlanState.READY, 7 * DAY, False),
        (PlanState.READY, 7 * DAY + dt.timedelta(seconds=1), True),
        (PlanState.APPLIED, 70 * DAY, False),
    ],
)
def test_a_plan_nobody_applied_expires(state, age, expired):
    assert is_expired(state, NOW - age, NOW, 7) is expired


THERE = Present(version=1, is_archived=False, is_protected=False, index_state=IndexState.READY, trust=Trust.STATED)
LOW = [CleanupRule.LOW_STALE]
ALONE, CLUSTERED = Chosen(ONE, 1), Chosen(ONE, 1, OTHER, is_clustered=True, successor_version=1)


@pytest.mark.parametrize(
    "chosen, reasons, there, keeper, expected",
    [
        (ALONE, LOW, THERE, None, None),
        (ALONE, LOW, None, None, Skipped.GONE),
        (ALONE, LOW, replace(THERE, version=2), None, Skipped.CHANGED),
        (ALONE, LOW, replace(THERE, is_archived=True, version=2), None, Skipped.WAS_ARCHIVED),
        (ALONE, LOW, replace(THERE, is_protected=True, version=2), None, Skipped.PROTECTED),
        (ALONE, [CleanupRule.FAILED_INDEXING], THERE, None, Skipped.INDEXED),
        (ALONE, [CleanupRule.FAILED_INDEXING, *LOW], THERE, None, None),
        (ALONE, [CleanupRule.FAILED_INDEXING], replace(THERE, index_state=IndexState.FAILED), None, None),
        (CLUSTERED, LOW, THERE, THERE, None),
        (CLUSTERED, LOW, THERE, None, Skipped.KEEPER_GONE),
        (CLUSTERED, LOW, THERE, replace(THERE, version=2), Skipped.KEEPER_CHANGED),
        (replace(CLUSTERED, successor_id=None), LOW, THERE, None, Skipped.KEEPER_GONE),
        (CLUSTERED, LOW, THERE, replace(THERE, is_archived=True), Skipped.KEEPER_GONE),
        (CLUSTERED, LOW, THERE, replace(THERE, is_superseded=True), Skipped.KEEPER_GONE),
        (CLUSTERED, LOW, THERE, replace(THERE, status=Status.DRAFT), Skipped.KEEPER_GONE),
        (CLUSTERED, LOW, THERE, replace(THERE, expires_at=NOW), Skipped.KEEPER_GONE),
        (CLUSTERED, LOW, THERE, replace(THERE, expires_at=NOW + DAY), None),
        (CLUSTERED, LOW, THERE, replace(THERE, trust=Trust.UNTRUSTED), Skipped.TRUST_TOO_LOW),
    ],
)
def test_what_is_left_alone_when_its_turn_comes(chosen, reasons, there, keeper, expected):
    """CLN-10: whatever the plan says, nothing changed since, nothing protected, no cluster without a survivor."""
    assert why_skip(chosen, reasons, there, keeper, NOW) == expected
