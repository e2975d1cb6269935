"""Legs put together, by shares of their best or by reciprocal ranks; every hit adds up (SRC-05, SRC-16)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memories.rules.fusion import RRF_K, explain, normalised_sum, ranks, reciprocal_ranks, shares, total

NAN = float("nan")
LEGS = {"semantic": np.array([0.8, 0.4, NAN, -0.2]), "keyword": np.array([NAN, 6.0, 3.0, NAN])}
WEIGHTS = {"semantic": 1.0, "keyword": 0.5}


def test_golden_normalised_sum():
    """The balanced order: shares of each leg's best, weighted."""
    parts = normalised_sum(LEGS, WEIGHTS)
    assert total(parts, 4) == pytest.approx([1.0, 1.0, 0.25, 0.0])
    assert parts["keyword"] == pytest.approx([0, 0.5, 0.25, 0])


def test_golden_reciprocal_ranks():
    """SRC-05: weight / (60 + rank), nothing for what a leg did not find."""
    parts = reciprocal_ranks(LEGS, WEIGHTS)
    assert total(parts, 4) == pytest.approx([1 / 61, 1 / 62 + 0.5 / 61, 0.5 / 62, 1 / 63])
    assert RRF_K == 60


def test_equal_scores_share_a_rank():
    assert ranks(np.array([2.0, 5.0, 2.0, NAN, 1.0]))[[0, 1, 2, 4]].tolist() == [2, 1, 2, 4]


def test_a_leg_without_anything_good_adds_nothing():
    assert shares(np.array([-1.0, NAN, 0.0])).tolist() == [0, 0, 0]
    assert total({}, 3).tolist() == [0, 0, 0]
    assert shares(np.array([])).tolist() == []


def test_a_leg_without_a_weight_is_a_mistake():
    with pytest.raises(KeyError):
        normalised_sum(LEGS, {"semantic": 1.0})


def test_why_a_hit_stands_where_it_does():
    """SRC-16: score, rank, share, weight and what it added, for the legs that added something."""
    why = explain(LEGS, normalised_sum(LEGS, WEIGHTS), WEIGHTS, 1)
    assert (why["semantic"].score, why["semantic"].rank, why["semantic"].normalised) == (0.4, 2, 0.5)
    assert (why["keyword"].rank, why["keyword"].weight, why["keyword"].contribution) == (1, 0.5, 0.5)
    assert set(explain(LEGS, normalised_sum(LEGS, WEIGHTS), WEIGHTS, 2)) == {"keyword"}


FINITE = st.floats(-1e6, 1e6, allow_subnormal=False) | st.just(NAN)


@given(arrays(np.float64, st.tuples(st.just(2), st.integers(1, 8)), elements=FINITE))
def test_contributions_add_up_to_the_score(scores):
    legs, weights = {"a": scores[0], "b": scores[1]}, {"a": 1.0, "b": 0.7}
    for parts in (normalised_sum(legs, weights), reciprocal_ranks(legs, weights)):
        totals = total(parts, scores.shape[1])
        for place, score in enumerate(totals):
            why = explain(legs, parts, weights, place).values()
            assert sum(leg.contribution for leg in why) == pytest.approx(score)
