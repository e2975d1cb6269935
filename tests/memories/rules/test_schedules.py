"""When periodic work is due."""

from __future__ import annotations

import datetime as dt

import pytest

from memories.rules.schedules import Rhythm, due_after

DAY = dt.timedelta(days=1)


def at(day: int, hour: int, minute: int = 0) -> dt.datetime:
    return dt.datetime(2026, 11, day, hour, minute, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("last", "rhythm", "due"),
    [
        (at(10, 12, 5), Rhythm(dt.timedelta(hours=24)), at(11, 12, 5)),
        (at(10, 12, 5), Rhythm(dt.timedelta(hours=1)), at(10, 13, 5)),
        (at(10, 12), Rhythm(DAY, hour=3), at(11, 3)),
        (at(10, 1), Rhythm(DAY, hour=3), at(10, 3)),
        (at(10, 3), Rhythm(DAY, hour=3), at(11, 3)),
        (at(10, 3, 1), Rhythm(DAY, hour=3), at(11, 3)),
        (at(10, 3, 1), Rhythm(7 * DAY, hour=3), at(17, 3)),
        (at(10, 12), Rhythm(dt.timedelta(hours=6), hour=0), at(11, 0)),
        (dt.datetime(2026, 11, 10, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))), Rhythm(DAY, hour=3), at(10, 3)),
    ],
)
def test_due_some_time_after_the_last_or_at_an_hour(last: dt.datetime, rhythm: Rhythm, due: dt.datetime):
    """CLU-02: never at or before the last one."""
    assert due_after(last, rhythm) == due
    assert due_after(last, rhythm) > last
