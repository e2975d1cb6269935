"""The one place that asks what time it is, so that tests can travel."""

from __future__ import annotations

import datetime as dt


def now() -> dt.datetime:
    """The present moment, timezone-aware, UTC (MOD-47)."""
    return dt.datetime.now(dt.UTC)
