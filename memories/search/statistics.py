"""What happened over time, from the counts kept by the hour and the day. No page and no answer counts memories here.

What was tallied since the last sweep is added in the same statement, so the numbers are those of this moment. That a
memory expires changes no row, so no trigger hears of it: those that have are looked up by an index of their own.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q

from banks.access import Access, KeyScope
from memories.models import GuardSpell
from memories.rules.rollups import Count, Grid, Metric, Period, percentile, series, standing
from memories.rules.vocabulary import GuardedService
from memoryhub.lib.clock import now

#: Counted for each bank, so that keys limited to banks are told of theirs only.
OF_BANKS = frozenset({Metric.CREATED, Metric.MENTIONED, Metric.STANDING, Metric.RECALLED, Metric.WRITTEN})
#: Asked for as they stand now: what there is, and how much was ever created.
LEVELS = frozenset({Metric.STANDING, Metric.WAITING, Metric.CREATED})
PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True)
class Statistics:
    """The counts of one period. Every list is as long as the grid has steps."""

    grid: Grid
    counts: Sequence[Count]
    now: Sequence[tuple[Metric, str, UUID | None, int]]
    """What stands at the end of the period: metric, label, bank, how much."""

    def flow(self, metric: Metric, bank_id: UUID | None = None) -> dict[str, list[int]]:
        """Label → how many in each step, in all banks or in one."""
        return series(self.grid, self._of(metric, bank_id))

    def level(self, metric: Metric, bank_id: UUID | None = None) -> dict[str, list[int]]:
        """Label → how many there were at the end of each step."""
        at_the_end: dict[str, int] = {}
        for one, label, bank, count in self.now:
            if one is metric and bank_id in (None, bank):
                at_the_end[label] = at_the_end.get(label, 0) + count
        return standing(self.flow(metric, bank_id), at_the_end, len(self.grid.starts))

    def durations(self, label: str) -> dict[str, list[float | None]]:
        """Percentile → ms in each step, None where nothing was measured."""
        cells = self._cells(label)
        return {
            name: [percentile(cells[start], share) for start in self.grid.starts] for name, share in PERCENTILES.items()
        }

    def overall(self, label: str) -> dict[str, float | None]:
        """Percentile → ms over the whole period."""
        summed: dict[int, int] = {}
        for cells in self._cells(label).values():
            for cell, count in cells.items():
                summed[cell] = summed.get(cell, 0) + count
        return {name: percentile(summed, share) for name, share in PERCENTILES.items()}

    @property
    def is_untouched(self) -> bool:
        """Whether no memory was ever created here: a vault whose last one was erased is no new one."""
        return not any(metric in (Metric.CREATED, Metric.STANDING) for metric, *_ in self.now)

    def measured(self) -> list[str]:
        """What durations were measured of."""
        return sorted({one.label for one in self.counts if one.metric is Metric.TOOK})

    def measured_counts(self, label: str) -> list[int]:
        """How many durations were measured in each step."""
        cells = self._cells(label)
        return [sum(cells[start].values()) for start in self.grid.starts]

    def in_banks(self) -> dict[UUID, dict[str, int]]:
        """Bank → how many of its memories stand how, now."""
        return by_bank(self.now)

    def _cells(self, label: str) -> dict[dt.datetime, dict[int, int]]:
        cells: dict[dt.datetime, dict[int, int]] = {start: {} for start in self.grid.starts}
        for one in self.counts:
            if one.metric is Metric.TOOK and one.label == label and one.start in cells:
                cells[one.start][one.cell] = one.n
        return cells

    def _of(self, metric: Metric, bank_id: UUID | None) -> list[Count]:
        return [one for one in self.counts if one.metric is metric and bank_id in (None, one.bank_id)]


def read_statistics(access: Access, period: Period, metrics: Collection[Metric]) -> Statistics:
    """The counts of a period that ends now. Needs ops:read; of banks the caller may not see nothing is counted."""
    access.require(KeyScope.OPS_READ)
    grid = Grid.of(period, now())
    given: dict[str, Any] = {
        "vault": access.vault_id,
        "span": period.source.value,
        "since": grid.since,
        "until": grid.until,
        "step": grid.step,
        "metrics": [metric.value for metric in metrics],
        **_levels_of(access, LEVELS.intersection(metrics)),
    }
    counts: list[Count] = []
    levels: list[tuple[Metric, str, UUID | None, int]] = []
    with connection.cursor() as cursor:
        cursor.execute(f"{_EXPIRED} {_COUNTS} UNION ALL {_LEVELS}", given)
        for metric, label, cell, bank, start, n in cursor.fetchall():
            if start is None:
                levels.append((Metric(metric), label, bank, int(n)))
            else:
                counts.append(Count(Metric(metric), label, start.astimezone(dt.UTC), int(n), cell, bank))
    return Statistics(grid, counts, levels)


def count_in_banks(access: Access) -> dict[UUID, dict[str, int]]:
    """Bank → how many of its memories stand how, now. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    given = {"vault": access.vault_id, **_levels_of(access, {Metric.STANDING})}
    with connection.cursor() as cursor:
        cursor.execute(f"{_EXPIRED} {_LEVELS}", given)
        rows = [(Metric(metric), label, bank, int(n)) for metric, label, _, bank, _, n in cursor.fetchall()]
    return by_bank(rows)


def by_bank(levels: Sequence[tuple[Metric, str, UUID | None, int]]) -> dict[UUID, dict[str, int]]:
    """Bank → how many of its memories stand how."""
    found: dict[UUID, dict[str, int]] = {}
    for metric, label, bank_id, count in levels:
        if metric is Metric.STANDING and bank_id is not None:
            found.setdefault(bank_id, {})[label] = count
    return found


def _levels_of(access: Access, levels: Collection[Metric]) -> dict[str, Any]:
    limited, said = access.bank_ids is not None, [metric.value for metric in levels]
    return {
        "levels": said,
        "now": now(),
        "banks": list(access.bank_ids or ()),
        "limited": limited,
        "of_banks": [metric.value for metric in OF_BANKS],
    }


@dataclass(frozen=True, slots=True)
class Spell:
    """Once that a guard was open: nothing was asked until ``probes_at``, then it was half open until ``ended_at``."""

    service: GuardedService
    opened_at: dt.datetime
    probes_at: dt.datetime
    ended_at: dt.datetime | None
    error: str


def read_guard_spells(access: Access, since: dt.datetime) -> list[Spell]:
    """When the vault's guards were open since a moment, oldest first. Needs ops:read."""
    access.require(KeyScope.OPS_READ)
    rows = GuardSpell.objects.filter(Q(ended_at=None) | Q(ended_at__gt=since), vault_id=access.vault_id)
    return [
        Spell(GuardedService(row.service), row.opened_at, row.probes_at, row.ended_at, row.error)
        for row in rows.order_by("opened_at")
    ]


# Of each that has expired since and is otherwise active or a draft: one less of that, and one expired.
_EXPIRED = """
    WITH expired (metric, label, bank_id, at, n) AS (
        SELECT event.metric, event.label, one.bank_id, event.at, event.n FROM (
            SELECT bank_id, memoryhub_stands(status, archived_at, superseded_by_id) AS stood, created_at,
                greatest(expires_at, created_at) AS ended_at, coalesce(event_at, created_at) AS mentioned_at
            FROM memories_memory
            WHERE vault_id = %(vault)s AND expires_at <= %(now)s
                AND expires_at IS NOT NULL AND archived_at IS NULL AND superseded_by_id IS NULL
        ) AS one CROSS JOIN LATERAL (VALUES
            ('created', stood, created_at, -1), ('created', 'expired', created_at, 1),
            ('mentioned', stood, mentioned_at, -1), ('mentioned', 'expired', mentioned_at, 1),
            ('standing', stood, ended_at, -1), ('standing', 'expired', ended_at, 1)) AS event (metric, label, at, n)
        WHERE stood IN ('active', 'draft')
    )
"""
_BOTH = """
    SELECT metric, label, cell, bank_id, at, n FROM memories_rollup
    WHERE vault_id = %(vault)s AND span = %(span)s AND at >= %(since)s AND at < %(until)s AND metric = ANY(%(metrics)s)
    UNION ALL
    SELECT metric, label, cell, bank_id, at, n FROM memories_tally
    WHERE vault_id = %(vault)s AND at >= %(since)s AND at < %(until)s AND metric = ANY(%(metrics)s)
    UNION ALL
    SELECT metric, label, 0, bank_id, at, n FROM expired
    WHERE at >= %(since)s AND at < %(until)s AND metric = ANY(%(metrics)s)
"""
_COUNTS = f"""
    SELECT metric, label, cell, bank_id, date_bin(%(step)s, at, %(since)s) AS start,
        CASE WHEN metric = 'peak' THEN max(n) ELSE sum(n) END
    FROM ({_BOTH}) AS counted
    WHERE NOT %(limited)s OR bank_id = ANY(%(banks)s::uuid[]) OR metric <> ALL(%(of_banks)s)
    GROUP BY 1, 2, 3, 4, 5
"""
_LEVELS = """
    SELECT metric, label, 0, bank_id, NULL::timestamptz, sum(n) FROM (
        SELECT metric, label, bank_id, n FROM memories_rollup
        WHERE vault_id = %(vault)s AND span = 'all' AND at = timestamptz 'epoch' AND metric = ANY(%(levels)s)
        UNION ALL
        SELECT metric, label, bank_id, n FROM memories_tally
        WHERE vault_id = %(vault)s AND metric = ANY(%(levels)s)
        UNION ALL
        SELECT metric, label, bank_id, n FROM expired WHERE metric = ANY(%(levels)s)
    ) AS counted
    WHERE NOT %(limited)s OR bank_id = ANY(%(banks)s::uuid[]) OR metric <> ALL(%(of_banks)s)
    GROUP BY 1, 2, 4 HAVING sum(n) <> 0
"""
