"""Scales and labels, as tables."""

from __future__ import annotations

import datetime as dt
import itertools

import pytest

from memories.rules.plotscales import (
    durations,
    linear,
    milliseconds,
    percent,
    short_number,
    spoken_step,
    time_ticks,
)
from memories.rules.rollups import Grid, Period

NOON = dt.datetime(2026, 11, 22, 12, 34, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("most", "whole", "ticks"),
    [
        (0, True, (0, 1)),
        (1, True, (0, 1)),
        (3, True, (0, 1, 2, 3)),
        (7, True, (0, 2, 4, 6, 8)),
        (405, True, (0, 200, 400, 600)),
        (100_000, True, (0, 50_000, 100_000)),
        (0.7, False, (0, 0.2, 0.4, 0.6, 0.8)),
    ],
)
def test_lines_lie_at_round_numbers(most, whole, ticks):
    scale = linear(most, whole=whole)
    assert scale.ticks == pytest.approx(ticks)
    assert scale.top == pytest.approx(ticks[-1])
    assert scale.place(0) == 0
    assert scale.place(scale.top) == 1


def test_durations_of_one_size_begin_at_nothing_and_others_grow_by_factors():
    near, far = durations(6, 14), durations(0.4, 900)
    assert near.ticks[0] == 0
    assert far.floor == pytest.approx(0.2)
    assert far.top == 1000
    assert len(far.ticks) <= 6
    assert 0 < far.place(10) < far.place(100) < 1
    assert far.place(0) == 0


@pytest.mark.parametrize("period", list(Period))
def test_times_are_labelled_often_enough_and_not_over_each_other(period):
    """A label needs about 45 px: seven in 400 px, and half of them where it is narrower."""
    grid = Grid.of(period, NOON)
    ticks = time_ticks(grid.starts, grid.step)
    assert 3 <= len(ticks) <= 8
    assert sum(not tick.minor for tick in ticks) <= 4
    assert all(0 < tick.at < 1 for tick in ticks)
    assert all(b.at - a.at > 0.1 for a, b in itertools.pairwise(ticks))


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0"), (950, "950"), (1200, "1.2k"), (2000, "2k"), (34_400, "34k"), (1_500_000, "1.5M"), (0.5, "0.5")],
)
def test_short_numbers(value, said):
    assert short_number(value) == said


def test_units_are_said_and_nothing_is_a_dash():
    assert [milliseconds(each) for each in (None, 0, 0.44, 12.4, 1234)] == ["–", "0 ms", "0.4 ms", "12 ms", "1.2 s"]
    assert [percent(each) for each in (None, 0, 0.44, 12.4)] == ["–", "0 %", "0.4 %", "12 %"]


def test_a_step_in_words():
    assert spoken_step(NOON.replace(minute=0), dt.timedelta(hours=6)) == "22 Nov, 12:00 to 18:00"
    assert spoken_step(NOON, dt.timedelta(days=1)) == "22 Nov"
