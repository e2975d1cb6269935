"""Windows: nearest neighbours of the same session while they are short; pure."""

from __future__ import annotations

import numpy as np
import pytest

from memories.search.windows import directions, windows_of


def members(chars, joined):
    found = windows_of(np.array(chars, np.int64), np.array(joined, np.bool_))
    return [list(range(first, last + 1)) for first, last in zip(found.first, found.last, strict=True)]


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


def test_sums():
    windows = windows_of(np.array([100, 100, 100]), np.array([True, False]))
    assert windows.sums(np.array([[1.0], [2.0], [4.0]])).tolist() == [[3], [3], [4]]


def test_cosines_are_those_of_the_summed_vectors():
    """SRC-13: without writing the sums down; a window without vectors has none, one that cancels out neither."""
    dice = np.random.default_rng(3)
    vectors = directions(dice.normal(size=(40, 16)).astype(np.float32))
    vectors[[5, 6, 7, 8, 9, 20]] = 0
    vectors[31] = -vectors[30]
    joined = np.ones(39, np.bool_)
    joined[[4, 9, 29, 31]] = False
    windows = windows_of(dice.integers(50, 400, 40), joined)
    wanted = directions(dice.normal(size=(1, 16)).astype(np.float32))[0]
    summed = [vectors[first : last + 1].sum(axis=0) for first, last in zip(windows.first, windows.last, strict=True)]
    expected = directions(np.array(summed)) @ wanted
    expected[30:32] = 0
    assert windows.cosines(vectors, wanted) == pytest.approx(expected, abs=1e-5)
