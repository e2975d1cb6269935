"""Shapes: numbers in, coordinates out."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules.plotscales import linear
from memories.rules.plotshapes import line, path, shares, stacked_areas, stacked_bars, stretches

NOON = dt.datetime(2026, 11, 22, 12, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)


def test_areas_stand_on_each_other_and_reach_both_edges():
    (low, outline), (high, _) = stacked_areas([[1, 1], [1, 3]], linear(4))
    assert low == [(0.0, 0.75), (0.25, 0.75), (0.75, 0.75), (1.0, 0.75)]
    assert high == [(0.0, 0.5), (0.25, 0.5), (0.75, 0.0), (1.0, 0.0)]
    assert outline[-1] == (0.0, 1.0)


def test_one_point_is_as_wide_as_the_picture():
    ((upper, _),) = stacked_areas([[2]], linear(2))
    assert [x for x, _ in upper] == [0.0, 0.5, 1.0]


def test_nothing_has_no_shape():
    assert stacked_areas([], linear(1)) == []
    assert stacked_bars([], linear(1)) == []
    assert path([], 10, 10) == ""
    assert line([None, None], linear(1)) == []


@given(st.lists(st.lists(st.integers(0, 50), min_size=4, max_size=4), min_size=1, max_size=5))
def test_bars_of_a_step_touch_and_stay_inside(layers):
    scale = linear(max(1, *(sum(column) for column in zip(*layers, strict=True))))
    found = stacked_bars(layers, scale)
    for place in range(4):
        boxes = [row[place] for row in found if row[place] is not None]
        floor = 1.0
        for box in boxes:
            assert box is not None
            assert box.y + box.height == pytest.approx(floor)
            floor = box.y
        assert floor >= -1e-9


def test_a_missing_value_is_a_gap():
    runs = line([1, None, 2, 2], linear(2))
    assert [len(run) for run in runs] == [1, 2]
    assert runs[0] == [(0.125, 0.5)]


def test_a_path_is_scaled():
    assert path([(0, 0), (0.5, 1)], 100, 20) == "M0,0 50,20"
    assert path([(0, 0), (1, 1)], 1, 1, closed=True) == "M0,0 1,1Z"


def test_states_are_cut_off_at_the_edges_and_short_ones_are_seen():
    states = [
        ("open", NOON - 30 * HOUR, NOON - 20 * HOUR),
        ("open", NOON - 2 * HOUR, NOON - 2 * HOUR + dt.timedelta(seconds=1)),
        ("half_open", NOON - 60 * HOUR, NOON - 50 * HOUR),
    ]
    first, second = stretches(states, NOON - 24 * HOUR, NOON)
    assert [first.x, first.width] == pytest.approx([0, 4 / 24])
    assert second.width == 0.004
    assert second.x + second.width <= 1


def test_shares_are_of_the_greatest():
    assert shares([4, 2, 0]) == [1.0, 0.5, 0.0]
    assert shares([0, 0]) == [0.0, 0.0]
