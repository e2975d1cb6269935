"""The similarity part of the ladder as a table: every rung at its bound, every guard (DUP-22, CON-08)."""

from __future__ import annotations

from uuid import UUID

import pytest

from memories.rules.dedup import (
    Candidate,
    Equal,
    Ladder,
    Verdict,
    among_equals,
    decide,
    kind_of,
    ladder_of,
    may_yield,
    text_ladder,
)
from memories.rules.layers import resolve
from memories.rules.settings import Level
from memories.rules.vocabulary import Difference, PairKind


def settings(**chosen: object) -> dict[str, object]:
    return {key: effective.value for key, effective in resolve({Level.VAULT: chosen}).items()}


LADDER = ladder_of(settings())
CHECKED = ladder_of(settings(), has_checker=True)
CONSERVATIVE = ladder_of(settings(preset="conservative"))
NUMBER = frozenset({Difference.NUMBER})


def candidate(similarity: float, differences: frozenset[Difference] = frozenset(), **more: bool) -> Candidate:
    return Candidate(UUID(int=round(similarity * 10_000)), similarity, differences, **more)


RUNGS = [
    (0.75, "add", "add", "add"),
    (0.7501, "add", "ask", "add"),
    (0.80, "add", "ask", "add"),
    (0.8001, "review", "ask", "review"),
    (0.92, "review", "ask", "review"),
    (0.9201, "skip", "skip", "review"),
    (0.97, "skip", "skip", "review"),
    (0.9701, "skip", "skip", "skip"),
    (1.0, "skip", "skip", "skip"),
]


@pytest.mark.parametrize("similarity, plain, checked, conservative", RUNGS)
def test_every_rung(similarity, plain, checked, conservative):
    """DUP-07, DUP-14, DUP-16, DUP-22: bounds are exclusive; the checker is asked in between."""
    only = [candidate(similarity)]
    assert [decide(only, each).verdict for each in (LADDER, CHECKED, CONSERVATIVE)] == [plain, checked, conservative]


@pytest.mark.parametrize("difference", Difference)
@pytest.mark.parametrize("ladder", [LADDER, CHECKED, CONSERVATIVE], ids=["plain", "checked", "conservative"])
def test_what_differs_is_never_skipped(difference, ladder: Ladder):
    """CON-08, DEF-17: however similar the vectors are."""
    for yields in (True, False):
        decision = decide([candidate(1.0, frozenset({difference}), yields=yields)], ladder)
        assert decision.verdict != Verdict.SKIP


@pytest.mark.parametrize(
    "similarity, differences, yields, ladder, verdict",
    [
        (0.85, frozenset(), True, LADDER, "supersede"),
        (0.85, NUMBER, True, LADDER, "supersede"),
        (0.99, NUMBER, True, LADDER, "supersede"),
        (0.99, NUMBER, False, LADDER, "review"),
        (0.80, NUMBER, True, LADDER, "add"),
        (0.99, NUMBER, True, CONSERVATIVE, "review"),
        (0.85, frozenset(), True, CHECKED, "ask"),
    ],
)
def test_superseding_by_itself(similarity, differences, yields, ladder, verdict):
    """DUP-15, SUP-04: only what yields, only when close, never under `conservative`, never past the checker."""
    assert decide([candidate(similarity, differences, yields=yields)], ladder).verdict == verdict


def test_what_would_lose_something_does_not_stand_for_the_new_one():
    """DESIGN §6: an untrusted, hidden or expiring memory swallows nothing."""
    assert decide([candidate(0.99, stands=False)], LADDER).verdict == Verdict.REVIEW
    assert decide([candidate(0.99, stands=False, yields=True)], LADDER).verdict == Verdict.SUPERSEDE


def test_the_closest_that_fits_decides():
    """DUP-28: with which memory, how similar, who decided and why."""
    decision = decide([candidate(0.93), candidate(0.99, NUMBER), candidate(0.95)], LADDER)
    assert (decision.verdict, decision.candidate) == ("skip", candidate(0.95))
    decision = decide([candidate(0.83), candidate(0.88, NUMBER)], LADDER)
    assert (decision.verdict, decision.decided_by, decision.candidate) == (
        "review",
        "similarity",
        candidate(0.88, NUMBER),
    )
    assert "differs in number" in decision.reason
    assert decide([], CHECKED).decided_by == "no_match"


@pytest.mark.parametrize("ratio, verdict", [(0.9499, "add"), (0.95, "skip"), (1.0, "skip")])
def test_without_vectors_characters_decide(ratio, verdict):
    """DUP-17: 0.95 itself is a duplicate, with the same guard."""
    ladder = text_ladder(settings())
    assert decide([candidate(ratio)], ladder, "text").verdict == verdict
    assert decide([candidate(ratio, NUMBER)], ladder, "text").verdict == ("add" if verdict == "add" else "review")


@pytest.mark.parametrize(
    "old_type, old_key, new_key, is_protected, expected",
    [
        ("fact", "home", "home", False, True),
        ("fact", None, None, False, False),
        ("fact", "", "", False, False),
        ("fact", "home", "job", False, False),
        ("fact", "home", "home", True, False),
        ("constraint", "home", "home", False, False),
    ],
)
def test_what_may_be_replaced_unasked(old_type, old_key, new_key, is_protected, expected):
    """DEF-17, SUP-08: an equal, non-empty fact key; nothing protected, no constraint."""
    assert may_yield(old_type, old_key, new_key, is_protected=is_protected) is expected


@pytest.mark.parametrize(
    "differences, kind",
    [
        ((), PairKind.DUPLICATE),
        ((Difference.NUMBER,), PairKind.CONTRADICTION),
        ((Difference.NEGATION,), PairKind.CONTRADICTION),
        ((Difference.NAME, Difference.NUMBER), PairKind.NEAR),
        ((Difference.WORDING,), PairKind.NEAR),
    ],
)
def test_what_a_person_is_asked(differences, kind):
    assert kind_of(frozenset(differences)) == kind


@pytest.mark.parametrize("ladder", [LADDER, CHECKED, text_ladder(settings())], ids=["plain", "checked", "text"])
@pytest.mark.parametrize("differing", [frozenset(), NUMBER], ids=["same", "differs"])
def test_a_listing_ladder_leaves_everything_close_to_a_person(ladder, differing):
    """CON-16: no similarity skips or replaces, and no checker is asked."""
    close = [candidate(1.0, differing, yields=True)]
    assert decide(close, ladder.listing()).verdict == Verdict.REVIEW
    assert decide([candidate(0.8, differing)], ladder.listing()).verdict == Verdict.ADD


HERE, ELSEWHERE = UUID(int=100), UUID(int=200)


def equal(number: int, bank: UUID = HERE, *, is_seen: bool = True, has_expired: bool = False) -> Equal:
    return Equal(UUID(int=number), bank, is_seen=is_seen, has_expired=has_expired)


EQUALS = {
    "nothing": ([], None, []),
    "one here": ([equal(1)], 1, []),
    "one in another bank": ([equal(1, ELSEWHERE)], 1, []),
    "one out of reach": ([equal(1, ELSEWHERE, is_seen=False)], None, []),
    "one out of reach, and its own": ([equal(1, ELSEWHERE, is_seen=False), equal(2)], 2, []),
    "the same bank before an older one": ([equal(1, ELSEWHERE), equal(2)], 2, []),
    "the oldest of a bank": ([equal(3, ELSEWHERE), equal(2, ELSEWHERE)], 2, []),
    "one that expired": ([equal(1, has_expired=True)], None, [1]),
    "one that expired out of reach": ([equal(1, ELSEWHERE, is_seen=False, has_expired=True)], None, []),
    "one that expired beside one that stands": ([equal(1, has_expired=True), equal(2, ELSEWHERE)], 2, []),
    "all that expired": ([equal(1, ELSEWHERE, has_expired=True), equal(2, has_expired=True)], None, [2, 1]),
}


@pytest.mark.parametrize("there, duplicate_of, ended", EQUALS.values(), ids=EQUALS.keys())
def test_which_of_the_equal_ones_counts(there, duplicate_of, ended):
    """BNK-02, DUP-01: only what the caller may know of, the same bank first, and what has expired makes room."""
    found, room = among_equals(there, HERE)
    assert (found and found.int, [one.int for one in room]) == (duplicate_of, ended)
