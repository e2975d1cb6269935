"""After fusion: age, boosts and variety, with golden orders (SRC-06, SRC-07, CON-14)."""

from __future__ import annotations

import numpy as np
import pytest

from memories.rules.reranking import Manner, boost, decay, in_turn, varied

SEED = Manner(balance=0.7)


def test_golden_decay():
    """SRC-06: half after a half-life, a quarter after two, never below the floor; the future is not older than now."""
    assert decay(np.array([0.0, 30.0, 45.0, 3650.0, -5.0]), 30, 0.3).tolist() == [1, 0.5, 0.5**1.5, 0.3, 1]
    assert decay(np.array([0.0, 900.0]), 0, 0.3).tolist() == [1, 1]


def test_golden_boosts():
    """DESIGN §5.5: 5 is raised by the share, 1 lowered by it, 3 is left alone; a share of 0 changes nothing."""
    levels = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert boost(levels, 0.1).tolist() == [0.9, 0.95, 1.0, 1.05, 1.1]
    assert boost(levels, 0.0).tolist() == [1] * 5


def test_factors_in_turn_add_up_to_their_product():
    """SRC-16: each adds to what the one before left, so that the sum is the score."""
    parts = in_turn(np.array([2.0]), {"decay": np.array([0.5]), "importance": np.array([1.1])})
    assert parts["decay"].tolist() == [-1.0]
    assert parts["importance"] == pytest.approx([0.1], abs=1e-15)
    assert 2.0 + sum(part[0] for part in parts.values()) == pytest.approx(2.0 * 0.5 * 1.1, abs=1e-15)


def test_golden_variety():
    """SRC-07: the second of two equal ones gives way to something else; with 1 only relevance counts."""
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    scores = np.array([1.0, 0.9, 0.6])
    order, penalties = varied(scores, vectors, SEED, 3)
    assert order == [0, 2, 1]
    assert penalties == pytest.approx([0, 0.3, 0])
    assert varied(scores, vectors, Manner(), 3)[0] == [0, 1, 2]


def test_only_what_is_near_identical_gives_way():
    """SRC-07: below `alike_from` a resemblance costs nothing, above it as much as it is above."""
    near, same = [0.96, 0.28], [1, 0]
    vectors = np.array([same, near, same, [0, 1]], np.float32)
    manner = Manner(balance=0.7, alike_from=0.95)
    order, penalties = varied(np.array([1.0, 0.9, 0.8, 0.7]), vectors, manner, 4)
    assert order == [0, 1, 3, 2]
    assert penalties == pytest.approx([0, 0.3 * 0.2, 0.3, 0], abs=1e-6)


def test_variety_of_little():
    assert varied(np.zeros(0), np.zeros((0, 4), np.float32), SEED, 5)[0] == []
    assert varied(np.zeros(2), np.zeros((2, 0), np.float32), SEED, 5)[0] == [0, 1]
    assert varied(np.ones(3), np.eye(3, dtype=np.float32), SEED, 2)[0] == [0, 1]
