"""How long searches take is noted beside them, and a search is not slower for it."""

from __future__ import annotations

import time
from uuid import uuid4

import pytest

from memories.models import Tally
from memories.rules.filters import SearchQuery
from memories.rules.rollups import Metric, Period
from memories.search.recall import search_memories
from memories.search.statistics import read_statistics
from memories.search.timing import WHOLE, flush_timing, note_stages
from memories.search.trace import Stage
from tests.factories import remember

pytestmark = pytest.mark.django_db


def test_a_search_is_counted_by_stage(access):
    flush_timing()
    Tally.objects.all().delete()
    remember(access, "The spare key hangs in the shed.")
    for _ in range(3):
        search_memories(access, SearchQuery(query="spare key"))
    flush_timing()
    found = read_statistics(access, Period.DAY, [Metric.TOOK])
    assert sum(found.measured_counts(WHOLE)) == 3
    assert {"keyword", "rank", "read", WHOLE} <= set(found.measured())
    assert 0 < (found.overall(WHOLE)["p50"] or 0) < 5_000


def test_noting_costs_a_search_next_to_nothing():
    """≤ 0.1 ms of a search of several; it is a few microseconds."""
    vault, stages = uuid4(), [Stage(name, 1.0, 1, 1) for name in ("keyword", "semantic", "rank", "read")]
    rounds = 2_000
    best = min(_timed(lambda: note_stages(vault, 3.0, stages), rounds) for _ in range(3))
    flush_timing()
    assert best < 0.1


def _timed(act, rounds):
    started = time.perf_counter()
    for _ in range(rounds):
        act()
    return (time.perf_counter() - started) / rounds * 1000
