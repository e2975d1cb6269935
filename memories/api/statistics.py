"""What happened over time, from the counts kept by the hour and the day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router
from pydantic import with_config

from banks.access import KeyScope
from memories.api.requests import ApiRequest
from memories.rules.rollups import Metric, Period, StatSeries
from memories.rules.vocabulary import GuardedService
from memories.search import statistics
from memories.search.statistics import Spell, Statistics
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told

router = Router()


@with_config(shown({"count": [12], "p50": [8.1], "p95": [14.0], "p99": [21.7]}))
class DurationsOut(TypedDict):
    """How long searches, or one stage of them, took: percentiles in ms, null where nothing was measured."""

    count: list[int]
    p50: list[float | None]
    p95: list[float | None]
    p99: list[float | None]


@with_config(shown({"service": "chat", "error": "The provider did not answer."}))
class GuardSpellOut(TypedDict):
    """Once that a guard was open: nothing was asked until ``probes_at``, then it was half open."""

    service: Annotated[str, Word(GuardedService)]
    opened_at: dt.datetime
    probes_at: dt.datetime
    ended_at: dt.datetime | None
    error: str


@with_config(
    shown(
        {
            "period": "24h",
            "step_seconds": 3600,
            "starts": ["2026-11-21T10:00:00Z"],
            "series": {"created": {"fact": [4]}},
            "latency": {"whole": {"count": [12], "p50": [8.1], "p95": [14.0], "p99": [21.7]}},
        }
    )
)
class StatsOut(TypedDict):
    """The counts of a period by steps that begin at ``starts`` (UTC); every list has one number for each.

    ``series``: name → label → numbers; ``latency``: ``whole`` and each stage; ``banks``: id of a bank → how many of its
    memories stand how, now.
    """

    period: Annotated[str, Word(Period)]
    step_seconds: int
    starts: list[dt.datetime]
    series: dict[str, dict[str, list[int]]]
    latency: dict[str, DurationsOut]
    guard: list[GuardSpellOut]
    banks: dict[UUID, dict[str, int]]


#: What each name is counted from, and how.
_FLOWS: Mapping[StatSeries, Metric] = {
    StatSeries.CREATED: Metric.CREATED,
    StatSeries.MENTIONED: Metric.MENTIONED,
    StatSeries.RECALLED: Metric.RECALLED,
    StatSeries.WRITES: Metric.WRITTEN,
    StatSeries.MODEL_CALLS: Metric.CALLED,
    StatSeries.SKIPPED_CALLS: Metric.SKIPPED,
    StatSeries.TOKENS: Metric.TOKENS,
    StatSeries.JOBS: Metric.ENDED,
}
_LEVELS: Mapping[StatSeries, Metric] = {StatSeries.MEMORIES: Metric.STANDING, StatSeries.QUEUE: Metric.WAITING}
_OTHERS: Mapping[StatSeries, Metric] = {StatSeries.LATENCY: Metric.TOOK, StatSeries.BANKS: Metric.STANDING}


@router.get("/stats", response=StatsOut, **told("Read counts over time", KeyScope.OPS_READ))
def read_stats(
    request: ApiRequest,
    period: Period = Period.MONTH,
    series: Annotated[list[StatSeries], Query(default_factory=list)] = [],  # noqa: B006
) -> HttpResponse:
    """Counts over a period, of every series or of those named. They are of events, not of rows that are there now."""
    wanted = series or list(StatSeries)
    metrics = {metric for one in wanted for table in (_FLOWS, _LEVELS, _OTHERS) if (metric := table.get(one))}
    found = statistics.read_statistics(request.access, period, metrics)
    spells = []
    if StatSeries.GUARD in wanted:
        spells = statistics.read_guard_spells(request.access, found.grid.since)
    return json_answer(_stats_out(period, wanted, found, spells))


def _stats_out(period: Period, wanted: Sequence[StatSeries], found: Statistics, spells: Sequence[Spell]) -> StatsOut:
    counted = {one.value: found.flow(metric) for one, metric in _FLOWS.items() if one in wanted}
    counted |= {one.value: found.level(metric) for one, metric in _LEVELS.items() if one in wanted}
    return {
        "period": period.value,
        "step_seconds": int(found.grid.step.total_seconds()),
        "starts": list(found.grid.starts),
        "series": counted,
        "latency": {label: _durations_out(found, label) for label in found.measured()},
        "guard": [
            {
                "service": spell.service.value,
                "opened_at": spell.opened_at,
                "probes_at": spell.probes_at,
                "ended_at": spell.ended_at,
                "error": spell.error,
            }
            for spell in spells
        ],
        "banks": found.in_banks() if StatSeries.BANKS in wanted else {},
    }


def _durations_out(found: Statistics, label: str) -> DurationsOut:
    def rounded(values: Sequence[float | None]) -> list[float | None]:
        return [None if value is None else round(value, 2) for value in values]

    of = found.durations(label)
    return {
        "count": found.measured_counts(label),
        "p50": rounded(of["p50"]),
        "p95": rounded(of["p95"]),
        "p99": rounded(of["p99"]),
    }
