"""After fusion: age and variety, with golden orders (SRC-06, SRC-07)."""

from __future__ import annotations

import numpy as np
import pytest

from memories.rules.reranking import DECAY_FLOOR, decay, varied


def test_golden_decay():
    """SRC-06: half after a half-life, a quarter after two, never below the floor; the future is not older than now."""
    assert decay(np.array([0.0, 30.0, 45.0, 3650.0, -5.0]), 30) == pytest.approx([1, 0.5, 0.5**1.5, DECAY_FLOOR, 1])
    assert decay(np.array([0.0, 900.0]), 0).tolist() == [1, 1]


def test_golden_variety():
    """SRC-07: the second of two equal ones gives way to something else; with 1 only relevance counts."""
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    scores = np.array([1.0, 0.9, 0.6])
    order, penalties = varied(scores, vectors, 0.7, 3)
    assert order == [0, 2, 1]
    assert penalties == pytest.approx([0, 0.3, 0])
    assert varied(scores, vectors, 1.0, 3)[0] == [0, 1, 2]


def test_variety_of_little():
    assert varied(np.zeros(0), np.zeros((0, 4), np.float32), 0.7, 5)[0] == []
    assert varied(np.zeros(2), np.zeros((2, 0), np.float32), 0.7, 5)[0] == [0, 1]
