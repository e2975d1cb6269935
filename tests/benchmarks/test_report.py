"""Numbers beside aims, for a person and for a machine."""

from __future__ import annotations

import json

from memories.management.bench.layout import Layout
from memories.management.bench.measure import latencies
from memories.management.bench.report import Target, as_json, as_text

NUMBERS = {"search.p50_ms": 6.25, "search.p95_ms": 45.0, "search.count": 390.0, "floor.p50_ms": 0.5}


def test_an_aim_is_a_ceiling_or_a_floor():
    assert Target(8).met(8) and not Target(8).met(8.1)
    assert Target(500, at_least=True).met(500) and not Target(500, at_least=True).met(499)
    assert [str(Target(1200)), str(Target(1200, at_least=True))] == ["≤ 1,200", "≥ 1,200"]


def test_the_table_says_what_was_met_and_what_was_missed():
    text = as_text(Layout(10_000), NUMBERS)
    rows = {row.split()[1]: row for row in text.splitlines() if "_ms" in row}
    assert "met" in rows["search.p50_ms"]
    assert "missed" in rows["search.p95_ms"]
    assert "10,000 memories" in text
    assert "search.count" not in text


def test_the_json_names_the_machine_and_the_misses():
    report = json.loads(json.dumps(as_json(Layout(10_000), NUMBERS)))
    assert report["missed"] == ["search.p95_ms"]
    assert report["numbers"]["search.p50_ms"] == 6.25
    assert report["machine"]["cores"] >= 1


def test_percentiles_leave_the_warm_up_out():
    assert latencies("x", [9.0, 0.001, 0.002, 0.003], warm_up=1) == {"x.p50_ms": 2.0, "x.p95_ms": 3.0, "x.count": 3.0}
    assert latencies("x", [1.0], warm_up=1) == {}
