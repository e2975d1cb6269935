"""How fast a job goes and how long it still takes."""

from __future__ import annotations

import datetime as dt

import pytest

from memories.rules.progress import LEASE, Pace, Report, is_silent, pace_of, seen_at

START = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


def after(seconds: float) -> dt.datetime:
    return START + dt.timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("done_then", "done", "total", "reported", "now", "pace"),
    [
        (0, 100, 300, 10, 10, Pace(10.0, 20.0)),
        # Time goes on between reports, and never runs below zero.
        (0, 100, 300, 10, 15, Pace(10.0, 15.0)),
        (0, 100, 300, 10, 99, Pace(10.0, 0.0)),
        # What an earlier attempt did is not this one's speed.
        (900, 1_000, 1_200, 10, 10, Pace(10.0, 20.0)),
        (0, 300, 300, 10, 10, Pace(30.0, 0.0)),
        (0, 310, 300, 10, 10, Pace(31.0, 0.0)),
        (0, 100, None, 10, 10, Pace(10.0, None)),
        # Too soon, nothing done, or counted anew: nothing can be said.
        (0, 100, 300, 0.5, 0.5, Pace()),
        (0, 0, 300, 10, 10, Pace()),
        (50, 10, 300, 10, 10, Pace()),
    ],
)
def test_rate_and_time_left(done_then: int, done: int, total: int | None, reported: float, now: float, pace: Pace):
    found = pace_of(Report(START, done_then, after(reported), done, total), after(now))
    assert found == pace


def test_nothing_reported_yet():
    assert pace_of(Report(None, 0, after(9), 3, 9), after(9)) == Pace()
    assert pace_of(Report(START, 0, None, 3, 9), after(9)) == Pace()


@pytest.mark.parametrize(("seconds", "silent"), [(0, False), (40, False), (41, True)])
def test_silence_is_longer_than_a_lease(seconds: int, silent: bool):
    assert is_silent(START, after(seconds)) is silent
    assert not is_silent(None, after(seconds))


@pytest.mark.parametrize(
    ("reported", "renewed", "seen"), [(None, None, None), (5, None, 5), (None, 7, 7), (5, 7, 7), (9, 7, 9)]
)
def test_a_renewed_lease_is_a_sign_of_life(reported: float | None, renewed: float | None, seen: float | None):
    """A step that reports nothing for long is not a worker that is gone."""
    lease_until = None if renewed is None else after(renewed) + LEASE
    found = seen_at(None if reported is None else after(reported), lease_until)
    assert found == (None if seen is None else after(seen))
