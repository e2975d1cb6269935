"""Windows: nearest neighbours of the same session while they are short; pure."""

from __future__ import annotations

import numpy as np
import pytest

from memories.search.windows import windows_of


def members(chars, joined):
    found = windows_of(np.array(chars, np.int64), np.array(joined, np.bool_)).members
    return [sorted(row[row >= 0].tolist()) for row in found]


def test_two_on_each_side():
    assert members([100] * 6, [True] * 5)[2] == [0, 1, 2, 3, 4]
    assert members([100] * 6, [True] * 5)[0] == [0, 1, 2]
    assert members([100] * 6, [True] * 5)[5] == [3, 4, 5]


def test_nobody_from_another_session_nor_across_a_gap():
    assert members([100] * 4, [True, False, True]) == [[0, 1], [0, 1], [2, 3], [2, 3]]


def test_a_window_stays_short():
    """The one before comes first; a side ends where a neighbour does not fit."""
    assert members([400, 400, 400, 100], [True] * 3)[1] == [0, 1]
    assert members([100, 900, 100], [True] * 2) == [[0, 1], [0, 1], [1, 2]]
    assert members([50, 950, 300, 100], [True] * 3)[2] == [2, 3]


@pytest.mark.parametrize("count", [0, 1])
def test_little_to_look_at(count):
    assert members([10] * count, [True] * max(count - 1, 0)) == [[0]] * count


def test_sums_and_directions():
    windows = windows_of(np.array([100, 100, 100]), np.array([True, False]))
    assert windows.sums(np.array([[1.0], [2.0], [4.0]])).tolist() == [[3], [3], [4]]
    directions = windows.directions(np.array([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]], np.float32))
    assert directions == pytest.approx(np.array([[0.6, 0.8], [0.6, 0.8], [0, 0]]))
