"""How fast a job goes, how long it still takes, and whether anybody is at it (ux: rate, time left, sign of life)."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

#: So long a job belongs to the worker that took it, from its last sign of life on; then another one may take it.
LEASE = dt.timedelta(seconds=40)
#: So often a worker gives a sign of life: a busy machine may miss some of them before its jobs are taken away.
RENEWED_EVERY = dt.timedelta(seconds=8)
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


def seen_at(heartbeat_at: dt.datetime | None, lease_until: dt.datetime | None) -> dt.datetime | None:
    """The last sign of life: a report, or the lease renewed by a process that is busy with one long step."""
    renewed = None if lease_until is None else lease_until - LEASE
    return max((at for at in (heartbeat_at, renewed) if at is not None), default=None)


def is_silent(seen: dt.datetime | None, now: dt.datetime) -> bool:
    """Whether whoever had a running job is gone, as far as anybody can tell."""
    return seen is not None and now - seen > LEASE
