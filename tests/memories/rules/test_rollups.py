"""The arithmetic of counts, as tables."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules.rollups import (
    Count,
    Grid,
    Metric,
    Period,
    cell_of,
    percentile,
    rates,
    series,
    standing,
)

NOON = dt.datetime(2026, 11, 22, 12, 34, 56, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("period", "first", "last", "count"),
    [
        (Period.DAY, dt.datetime(2026, 11, 21, 13), dt.datetime(2026, 11, 22, 12), 24),
        (Period.WEEK, dt.datetime(2026, 11, 15, 18), dt.datetime(2026, 11, 22, 12), 28),
        (Period.MONTH, dt.datetime(2026, 10, 24), dt.datetime(2026, 11, 22), 30),
        (Period.QUARTER, dt.datetime(2026, 8, 25), dt.datetime(2026, 11, 22), 90),
    ],
)
def test_a_period_ends_with_the_step_that_is_going_on(period, first, last, count):
    grid = Grid.of(period, NOON)
    assert grid.starts[0] == grid.since == first.replace(tzinfo=dt.UTC)
    assert grid.starts[-1] == last.replace(tzinfo=dt.UTC)
    assert len(grid.starts) == count
    assert grid.until > NOON


def test_what_lies_outside_is_left_out():
    grid = Grid.of(Period.DAY, NOON)
    counts = [
        Count(Metric.CREATED, "active", grid.since, 2),
        Count(Metric.CREATED, "active", grid.since, 3),
        Count(Metric.CREATED, "draft", grid.since - dt.timedelta(hours=1), 9),
    ]
    assert series(grid, counts) == {"active": [5] + [0] * 23}


@pytest.mark.parametrize(
    ("changes", "now", "levels"),
    [
        ({"active": [1, 0, 2]}, {"active": 10}, {"active": [8, 8, 10]}),
        ({"draft": [0, 3, -3]}, {}, {"draft": [0, 3, 0]}),
        ({}, {"archived": 4}, {"archived": [4, 4, 4]}),
    ],
)
def test_what_stood_is_worked_out_backwards(changes, now, levels):
    assert standing(changes, now, 3) == levels


@given(
    st.lists(st.floats(min_value=0.06, max_value=90_000), min_size=1, max_size=200), st.sampled_from([0.5, 0.95, 0.99])
)
def test_a_percentile_is_right_within_its_cell(durations, share):
    cells: dict[int, int] = {}
    for ms in durations:
        cells[cell_of(ms)] = cells.get(cell_of(ms), 0) + 1
    exact = sorted(durations)[min(len(durations) - 1, max(0, -(-int(share * 1000) * len(durations) // 1000) - 1))]
    found = percentile(cells, share)
    assert found is not None
    assert exact / 1.2 <= found <= exact * 1.2


def test_of_nothing_there_is_no_percentile():
    assert percentile({}, 0.5) is None
    assert percentile({3: 0}, 0.5) is None


def test_cells_are_bounded():
    assert cell_of(0) == cell_of(0.05) == 0
    assert cell_of(1e9) == cell_of(1e12)


def test_a_rate_of_nothing_is_a_gap():
    assert rates([1, 0, 0], [4, 2, 0]) == [25.0, 0.0, None]
