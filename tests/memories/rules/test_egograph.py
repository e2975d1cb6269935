"""The drawing of a neighbourhood: everybody once, nobody on top of another, the rest counted."""

from __future__ import annotations

from itertools import combinations
from math import dist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules.egograph import NODES_MAX, RADIUS, Drawing, Spoke, TieKind, draw

SPOKES = st.lists(st.builds(Spoke, st.integers(0, 200).map(str), st.sampled_from(TieKind)), max_size=120)


def closest(drawing: Drawing) -> float:
    points = [(point.x, point.y) for point in drawing.points] + [(drawing.middle, drawing.middle)]
    return min((dist(one, other) for one, other in combinations(points, 2)), default=1_000.0)


def test_alone_there_is_only_the_middle():
    alone = draw([])
    assert (alone.points, alone.lines, alone.rings, alone.left_out) == ([], [], [], 0)
    assert alone.size > 2 * RADIUS


def test_a_memory_tied_in_several_ways_stands_once_on_its_closest_ring():
    found = draw([Spoke("a", TieKind.ENTITY), Spoke("b", TieKind.ENTITY), Spoke("a", TieKind.SUPERSEDES)])
    assert [(point.key, point.number) for point in found.points] == [("a", 1), ("b", 2)]
    assert [line.kind for line in found.lines] == [TieKind.ENTITY, TieKind.ENTITY, TieKind.SUPERSEDES]
    near, far = (dist((point.x, point.y), (found.middle, found.middle)) for point in found.points)
    assert near < far


def test_a_full_ring_goes_on_in_the_next():
    found = draw([Spoke(str(number), TieKind.RELATED) for number in range(20)])
    assert len(found.rings) == 2
    assert closest(found) > 2 * RADIUS


def test_the_second_step_stands_outside_and_hangs_on_its_own_neighbour():
    found = draw([Spoke("a", TieKind.RELATED), Spoke("b", TieKind.REFINES, parent="a")])
    first, second = found.points
    assert (first.key, second.key) == ("a", "b")
    assert dist((second.x, second.y), (found.middle, found.middle)) > dist(
        (first.x, first.y), (found.middle, found.middle)
    )
    far = next(line for line in found.lines if line.kind is TieKind.REFINES)
    assert dist((far.x1, far.y1), (first.x, first.y)) == pytest.approx(RADIUS, abs=0.2)


@given(SPOKES)
def test_nobody_stands_on_another_or_outside_and_who_is_left_out_is_counted(spokes: list[Spoke]):
    found = draw(spokes)
    assert len(found.points) < NODES_MAX
    assert len(found.points) + found.left_out == len({spoke.key for spoke in spokes})
    assert [point.number for point in found.points] == list(range(1, len(found.points) + 1))
    assert closest(found) > 2 * RADIUS
    assert all(RADIUS <= value <= found.size - RADIUS for point in found.points for value in (point.x, point.y))
