"""A scale per space: thresholds become own cosines, own cosines become what an answer says."""

from __future__ import annotations

from itertools import pairwise

import pytest

from memories.rules.calibration import KNOTS, own_cosine, reference_similarity

SPACES = [*KNOTS, ("openai", "text-embedding-3-small")]


@pytest.mark.parametrize("provider, model", SPACES)
def test_the_scale_goes_there_and_back(provider, model):
    """DUP-23: identical texts have 1, and a threshold is met exactly where its own cosine is."""
    for reference in (0.0, 0.4, 0.75, 0.8, 0.92, 0.97, 1.0):
        assert reference_similarity(provider, model, own_cosine(provider, model, reference)) == pytest.approx(reference)
    assert reference_similarity(provider, model, 1.0000001) == 1.0
    assert reference_similarity(provider, model, -0.2) < 0


@pytest.mark.parametrize("knots", KNOTS.values(), ids=map(str, KNOTS))
def test_knots_rise(knots):
    """More similar here is more similar there."""
    assert all(left[0] < right[0] and left[1] < right[1] for left, right in pairwise(knots))
