"""When periodic work is due: some time after the last one, or at an hour of the day."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """So often; with ``hour`` (0–23, UTC) only at that hour of the day."""

    every: dt.timedelta
    hour: int | None = None


def due_after(last: dt.datetime, rhythm: Rhythm) -> dt.datetime:
    """When the work that began at ``last`` is due again.

    What was missed while the hub was away is not made up for: one run, and the rhythm goes on from there.
    """
    soonest = last + rhythm.every
    if rhythm.hour is None:
        return soonest
    soonest = max(last, soonest - _DAY)
    at_the_hour = soonest.astimezone(dt.UTC).replace(hour=rhythm.hour, minute=0, second=0, microsecond=0)
    return at_the_hour if at_the_hour > soonest else at_the_hour + _DAY
