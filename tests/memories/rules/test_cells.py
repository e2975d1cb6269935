"""Neighbours among many vectors: exact within a cell, and everything in some cell."""

from __future__ import annotations

import numpy as np
import pytest

from memories.rules.cells import CELL_MAX, Vectors, cells, neighbours


def unit(count: int, seed: int = 1) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(count, 16)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("count", [0, 1, CELL_MAX, CELL_MAX + 1, 3 * CELL_MAX + 7])
@pytest.mark.parametrize("cut", [0.5, 0.37])
def test_every_place_is_in_one_cell_of_bounded_size(count: int, cut: float):
    found = list(cells(unit(count), cut))
    assert sorted(np.concatenate(found).tolist()) == list(range(count))
    assert all(len(cell) <= CELL_MAX for cell in found)


def test_equal_vectors_are_parted_too():
    """Nothing tells them apart, and still no cell grows too large."""
    assert max(map(len, cells(np.ones((2 * CELL_MAX, 4), dtype=np.float32)))) <= CELL_MAX


def test_what_differs_most_parts_them():
    """Two crowds far from each other: no cell holds some of both."""
    one, other = unit(CELL_MAX), unit(CELL_MAX, seed=2)
    one[:, 0], other[:, 0] = 9.0, -9.0
    for cell in cells(np.concatenate([one, other])):
        assert len({place < CELL_MAX for place in cell.tolist()}) == 1


def test_neighbours_are_those_an_exact_comparison_finds():
    vectors = unit(700)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1.0)
    near = neighbours(vectors, floor=0.5, most=4)
    for place in range(700):
        best = [other for other in np.argsort(-cosines[place], kind="stable").tolist() if cosines[place, other] >= 0.5]
        assert near.counts[place] == len(best)
        assert set(near.of(place)) == set(best[:4])
    assert max(near.counts) > 4, "some must have been crowded"
