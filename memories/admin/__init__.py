"""The admin's tables, a module for each part of the house; importing this one registers them all."""

from __future__ import annotations

from memories.admin import (
    bulk,
    cleanup,
    erasures,
    events,
    rollups,
    savedviews,
    schedules,
    store,
    summaries,
    tiers,
    transfer,
)

__all__ = [
    "bulk",
    "cleanup",
    "erasures",
    "events",
    "rollups",
    "savedviews",
    "schedules",
    "store",
    "summaries",
    "tiers",
    "transfer",
]
