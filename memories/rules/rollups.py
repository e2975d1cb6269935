"""What is counted by the hour and by the day, and the arithmetic on it; pure.

Counts are of events, not of rows that are there now: an erased memory was created all the same. What stands at a
moment is worked out backwards from what stands now.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from uuid import UUID

HOUR, DAY = dt.timedelta(hours=1), dt.timedelta(days=1)
#: How long the hourly counts are kept; the daily ones stay.
HOURS_KEPT = dt.timedelta(days=90)
#: Cells for each doubling of a duration: a percentile is right within 9 %.
_CELLS = 4
_SHORTEST_MS = 0.05
_LAST_CELL = 4 * 21  # 105 seconds, and whatever took longer


class Metric(StrEnum):
    """What is counted. The label says of which kind, the bank where that matters.

    ``created`` and ``mentioned`` (at the moment it tells of) are labelled by what became of the memory since;
    ``standing`` and ``waiting`` are changes of what there is; ``took`` counts durations by cell; ``peak`` is the most
    that waited at once.
    """

    CREATED = "created"
    MENTIONED = "mentioned"
    STANDING = "standing"
    RECALLED = "recalled"
    WRITTEN = "written"
    TOOK = "took"
    CALLED = "called"
    SKIPPED = "skipped"
    TOKENS = "tokens"
    ENDED = "ended"
    WAITING = "waiting"
    PEAK = "peak"
    #: Not a count: the vault's history before there were counts has been filled in.
    FILLED = "filled"


class Stands(StrEnum):
    """Where a memory stands, the most decisive first; the database works it out the same way.

    ``expired`` is found when it is read: nothing is written when a memory expires.
    """

    DISCARDED = "discarded"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    EXPIRED = "expired"
    DRAFT = "draft"
    ACTIVE = "active"
    ERASED = "erased"


class Fate(StrEnum):
    """What became of a write; duplicates by how they were found."""

    CREATED = "created"
    UPDATED = "updated"
    SUPERSEDED = "superseded"
    EXACT = "duplicate_exact"
    NEAR = "duplicate_near"
    IDEMPOTENT = "idempotent"


class StatSeries(StrEnum):
    """What callers may ask for: ``memories`` and ``queue`` are how many there were at the end of each step."""

    MEMORIES = "memories"
    CREATED = "created"
    MENTIONED = "mentioned"
    RECALLED = "recalled"
    WRITES = "writes"
    LATENCY = "latency"
    MODEL_CALLS = "model_calls"
    SKIPPED_CALLS = "skipped_calls"
    TOKENS = "tokens"
    GUARD = "guard"
    JOBS = "jobs"
    QUEUE = "queue"
    BANKS = "banks"


class Span(StrEnum):
    """How much time one row of counts covers."""

    HOUR = "hour"
    DAY = "day"
    ALL = "all"


class Period(StrEnum):
    """How far back somebody looks."""

    DAY = "24h"
    WEEK = "7d"
    MONTH = "30d"
    QUARTER = "90d"

    @property
    def step(self) -> dt.timedelta:
        """What one point of a plot covers."""
        return {Period.DAY: HOUR, Period.WEEK: 6 * HOUR}.get(self, DAY)

    @property
    def points(self) -> int:
        """How many points there are."""
        return {Period.DAY: 24, Period.WEEK: 28, Period.MONTH: 30, Period.QUARTER: 90}[self]

    @property
    def source(self) -> Span:
        """The rows it is added up from."""
        return Span.HOUR if self.step < DAY else Span.DAY


@dataclass(frozen=True)
class Grid:
    """The points of a period: the beginnings of its steps (UTC), the last of which is still going on."""

    starts: tuple[dt.datetime, ...]
    step: dt.timedelta

    @classmethod
    def of(cls, period: Period, at: dt.datetime) -> Grid:
        """The period that ends with the step ``at`` lies in."""
        midnight = at.astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        last = midnight + ((at - midnight) // period.step) * period.step
        return cls(tuple(last - period.step * back for back in reversed(range(period.points))), period.step)

    @property
    def since(self) -> dt.datetime:
        """The first moment."""
        return self.starts[0]

    @property
    def until(self) -> dt.datetime:
        """The first moment after it."""
        return self.starts[-1] + self.step

    @cached_property
    def _places(self) -> dict[dt.datetime, int]:
        return {start: place for place, start in enumerate(self.starts)}

    def place(self, start: dt.datetime) -> int | None:
        """Which step begins then."""
        return self._places.get(start)


@dataclass(frozen=True, slots=True)
class Count:
    """So many of a kind in one step."""

    metric: Metric
    label: str
    start: dt.datetime
    n: int
    cell: int = 0
    bank_id: UUID | None = None


def series(grid: Grid, counts: Iterable[Count]) -> dict[str, list[int]]:
    """Label → the count of each step."""
    found: dict[str, list[int]] = {}
    for one in counts:
        place = grid.place(one.start)
        if place is not None:
            found.setdefault(one.label, [0] * len(grid.starts))[place] += one.n
    return found


def standing(changes: Mapping[str, Sequence[int]], now: Mapping[str, int], length: int) -> dict[str, list[int]]:
    """Label → what stood at the end of each step, from the changes in each and what stands at the end."""
    found = {}
    for label in {*changes, *now}:
        level, levels = now.get(label, 0), list[int]()
        for change in reversed(changes.get(label, [0] * length)):
            levels.append(level)
            level -= change
        found[label] = levels[::-1]
    return found


def cell_of(ms: float) -> int:
    """The cell a duration falls into: four for each doubling, from 0.05 ms."""
    if ms <= _SHORTEST_MS:
        return 0
    return min(1 + int(math.log2(ms / _SHORTEST_MS) * _CELLS), _LAST_CELL)


def percentile(cells: Mapping[int, int], share: float) -> float | None:
    """The duration in ms that ``share`` of all stay below, within its cell's width; None of nothing."""
    total = sum(cells.values())
    if total <= 0:
        return None
    wanted, passed = share * total, 0
    for cell in sorted(cells):
        inside = cells[cell]
        if inside and passed + inside >= wanted:
            grown: float = (_edge(cell) / _edge(cell - 1)) ** ((wanted - passed) / inside)
            return _edge(cell - 1) * grown
        passed += inside
    return _edge(max(cells))


def _edge(cell: int) -> float:
    """Where a cell ends, in ms."""
    return _SHORTEST_MS * 2 ** (cell / _CELLS)


def rates(parts: Sequence[int], wholes: Sequence[int]) -> list[float | None]:
    """Percent of each; None where there is nothing to be a part of."""
    return [100 * part / whole if whole else None for part, whole in zip(parts, wholes, strict=True)]
