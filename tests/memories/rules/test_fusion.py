"""Normalised-score fusion: what each leg adds, and the same order every time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules.fusion import fuse

EVEN = {"semantic": 1.0, "keyword": 1.0}


def test_each_leg_counts_as_a_share_of_its_best():
    """SRC-16: every hit says what each leg added."""
    fused = fuse({"semantic": {"a": 0.8, "b": 0.4}, "keyword": {"b": 6.0, "c": 3.0}}, {"semantic": 1.0, "keyword": 0.5})
    assert [(hit.id, hit.score) for hit in fused] == [("a", 1.0), ("b", 1.0), ("c", 0.25)]
    b = fused[1].legs
    assert (b["semantic"].score, b["semantic"].rank, b["semantic"].normalised, b["semantic"].contribution) == (
        0.4,
        2,
        0.5,
        0.5,
    )
    assert (b["keyword"].score, b["keyword"].rank, b["keyword"].weight, b["keyword"].contribution) == (6.0, 1, 0.5, 0.5)
    assert set(fused[0].legs) == {"semantic"}


def test_negative_cosines_count_as_nothing():
    fused = fuse({"semantic": {"a": -0.5, "b": 0.5}}, EVEN)
    assert [(hit.id, hit.score) for hit in fused] == [("b", 1.0), ("a", 0.0)]


@pytest.mark.parametrize("legs", [{}, {"semantic": {}}, {"semantic": {}, "keyword": {}}])
def test_nothing_found_is_nothing(legs: dict[str, dict[str, float]]):
    assert fuse(legs, EVEN) == []


def test_a_leg_without_any_positive_score_adds_nothing():
    assert [hit.score for hit in fuse({"semantic": {"a": 0.0, "b": -1.0}}, EVEN)] == [0.0, 0.0]


def test_one_leg_alone_keeps_its_order():
    """DEG-01: without vectors the keyword leg's order is the answer."""
    scores = {"a": 1.0, "b": 3.0, "c": 2.0}
    assert [hit.id for hit in fuse({"keyword": scores}, EVEN)] == ["b", "c", "a"]


def test_equal_scores_are_in_the_order_of_their_ids():
    assert [hit.id for hit in fuse({"keyword": dict.fromkeys("cab", 2.0)}, EVEN)] == ["a", "b", "c"]


def test_a_leg_needs_a_weight():
    with pytest.raises(KeyError):
        fuse({"graph": {"a": 1.0}}, EVEN)


LEG = st.dictionaries(st.integers(0, 30), st.floats(-1, 50, allow_nan=False), max_size=20)


@given(LEG, LEG)
def test_scores_add_up_and_do_not_depend_on_the_order_of_candidates(
    semantic: dict[int, float], keyword: dict[int, float]
):
    fused = fuse({"semantic": semantic, "keyword": keyword}, EVEN)
    again = fuse({"semantic": dict(reversed(semantic.items())), "keyword": dict(reversed(keyword.items()))}, EVEN)
    assert [(hit.id, hit.score) for hit in fused] == [(hit.id, hit.score) for hit in again]
    assert {hit.id for hit in fused} == set(semantic) | set(keyword)
    for hit in fused:
        assert 0 <= hit.score <= 2
        assert hit.score == pytest.approx(sum(leg.contribution for leg in hit.legs.values()))
