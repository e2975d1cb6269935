"""Which of several memories that say the same stays."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from uuid import UUID

import pytest

from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupclusters import KeptFor, Likeness, Twin, clusters_of
from memories.rules.vocabulary import Trust

AT = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
IDS = [UUID(int=number) for number in range(6)]
TWINS = {one: Twin(one, Trust.STATED, 3, 3, 0, AT) for one in IDS}


def alike(one: int, other: int) -> Likeness:
    return Likeness(IDS[one], IDS[other], CleanupRule.NEAR_DUPLICATE, 0.95)


@pytest.mark.parametrize(
    "better, why",
    [
        ({"protected": True}, KeptFor.PROTECTED),
        ({"trust": Trust.VERIFIED}, KeptFor.TRUST),
        ({"importance": 4}, KeptFor.IMPORTANCE),
        ({"confidence": 4}, KeptFor.CONFIDENCE),
        ({"access_count": 1}, KeptFor.RECALLED),
        ({"created_at": AT + dt.timedelta(seconds=1)}, KeptFor.NEWEST),
    ],
)
def test_the_keeper_and_why(better, why):
    """Whatever is asked first decides, against all that is asked later."""
    twins = {**TWINS, IDS[0]: replace(TWINS[IDS[0]], **better)}
    (cluster,) = clusters_of([alike(0, 1)], twins)
    assert (cluster.keeper, cluster.why, [one.other for one in cluster.others]) == (IDS[0], why, [IDS[1]])


def test_alike_is_not_passed_on():
    """1 is alike 0 and 2, which are not alike: only what is alike the keeper goes."""
    twins = {**TWINS, IDS[0]: replace(TWINS[IDS[0]], importance=5)}
    (cluster,) = clusters_of([alike(0, 1), alike(1, 2)], twins)
    assert (cluster.keeper, [one.other for one in cluster.others]) == (IDS[0], [IDS[1]])


def test_a_memory_is_in_one_cluster_only():
    pairs = [alike(0, 1), alike(1, 2), alike(2, 3), alike(3, 4), alike(4, 5)]
    members = [
        one for cluster in clusters_of(pairs, TWINS) for one in (cluster.keeper, *(x.other for x in cluster.others))
    ]
    assert len(members) == len(set(members))


def test_nothing_protected_goes_and_nothing_untrusted_stands_for_the_trusted():
    """CLN-10, DESIGN §6."""
    both = {one: replace(TWINS[one], protected=True) for one in IDS[:2]}
    assert clusters_of([alike(0, 1)], both) == []
    pinned = {**TWINS, IDS[0]: replace(TWINS[IDS[0]], protected=True, trust=Trust.UNTRUSTED)}
    assert clusters_of([alike(0, 1)], pinned) == []
    assert clusters_of([alike(0, 0), Likeness(IDS[0], UUID(int=99), CleanupRule.NEAR_DUPLICATE)], TWINS) == []
