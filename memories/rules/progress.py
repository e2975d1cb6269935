"""How fast a job goes and how long it still takes, from what it reported (ux: rate, time left, sign of life)."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

#: A running job that was silent for longer may be stuck; its lease ends later, and then another worker takes it.
SILENT_AFTER = dt.timedelta(seconds=60)
#: Over a shorter time a rate would only be noise.
_MEASURED = dt.timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Report:
    """What was done of how much: at the first report of this stage and attempt (``since``), and at the latest."""

    since: dt.datetime | None
    done_then: int
    reported_at: dt.datetime | None
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Pace:
    """Steps a second, and seconds until the stage is done; None where nothing can be said yet."""

    rate: float | None = None
    seconds_left: float | None = None


def pace_of(report: Report, now: dt.datetime) -> Pace:
    """Measured between the two reports, so that what an earlier attempt did does not count as speed.

    The time left runs down between reports and never below zero; without a total there is none.
    """
    if report.since is None or report.reported_at is None:
        return Pace()
    took, steps = report.reported_at - report.since, report.done - report.done_then
    if took < _MEASURED or steps <= 0:
        return Pace()
    rate = steps / took.total_seconds()
    if report.total is None:
        return Pace(rate)
    left = max(report.total - report.done, 0) / rate - (now - report.reported_at).total_seconds()
    return Pace(rate, max(left, 0.0))


def is_silent(heartbeat_at: dt.datetime | None, now: dt.datetime) -> bool:
    """Whether a running job has not been heard of for so long that something may be wrong."""
    return heartbeat_at is not None and now - heartbeat_at > SILENT_AFTER
