"""The numbers beside what is aimed at, for a person and for a machine."""

from __future__ import annotations

import datetime as dt
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from memories.management.bench.layout import Layout


@dataclass(frozen=True)
class Target:
    """An aim: at most, or at least."""

    limit: float
    at_least: bool = False

    def met(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:,.{0 if self.limit == int(self.limit) else 1}f}"


TARGETS: dict[str, Target] = {
    "write.one.p50_ms": Target(8),
    "write.one.p95_ms": Target(20),
    "batch.sustained_per_second": Target(500, at_least=True),
    "batch.burst_per_second": Target(1200, at_least=True),
    "search.p50_ms": Target(12),
    "search.p95_ms": Target(30),
    "search.times_neighbours": Target(15),
    "search.times_alone": Target(2),
    "list.page.p95_ms": Target(150),
    "list.filtered.p95_ms": Target(150),
    "list.text.p95_ms": Target(150),
    "list.next_pages.p95_ms": Target(150),
    "list.facets.p95_ms": Target(200),
    "mcp.times_rest": Target(2.5),
    "migrate.reseal.per_second": Target(3_000, at_least=True),
    "migrate.reembed.per_second": Target(1_500, at_least=True),
    "migrate.reseal.answers_wrong": Target(0),
    "migrate.reembed.answers_wrong": Target(0),
    "migrate.reindex.answers_wrong": Target(0),
    "cleanup.dry_run_ms": Target(5_000),
    "cleanup.seed_dry_run.p95_ms": Target(5_000),
    "cleanup.apply.rows_per_second": Target(2_000, at_least=True),
    "cleanup.undo.rows_per_second": Target(2_000, at_least=True),
    "cleanup.apply.search_times_idle": Target(1.5),
    "cleanup.undo.search_times_idle": Target(1.5),
    "memory.web_mb": Target(350),
    "memory.worker_mb": Target(350),
}
"""Aims for 100,000 memories in one vault on the embedded default; smaller vaults should keep them easily."""

MILLION = 1_000_000
TARGETS_AT_A_MILLION: dict[str, Target] = {
    "search.p95_ms": Target(100),
    "memory.web_mb": Target(350),
    "memory.worker_mb": Target(350),
}
"""Aims for 1,000,000 memories in one vault."""


def targets(layout: Layout) -> dict[str, Target]:
    """What is aimed at with vaults of that size."""
    return TARGETS_AT_A_MILLION if layout.memories >= MILLION else TARGETS


@dataclass(frozen=True)
class Machine:
    """Where the numbers come from; without it they mean nothing."""

    processor: str
    cores: int
    memory_gb: int
    system: str
    python: str


def this_machine() -> Machine:
    return Machine(
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_gb=round(psutil.virtual_memory().total / 2**30),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
    )


def as_json(layout: Layout, numbers: dict[str, float]) -> dict[str, Any]:
    """One flat object of numbers, the machine, and which aims were missed."""
    aims = {name: target for name, target in targets(layout).items() if name in numbers}
    return {
        "taken_at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machine": asdict(this_machine()),
        "memories": layout.memories,
        "vaults": layout.vaults,
        "numbers": {name: round(value, 3) for name, value in numbers.items()},
        "missed": [name for name, target in aims.items() if not target.met(numbers[name])],
    }


def as_text(layout: Layout, numbers: dict[str, float]) -> str:
    """A table of what was measured, what was aimed at, and whether it was met."""
    aims = targets(layout)
    table = Table(title=str(layout) if layout.vaults > 1 else f"{layout} in one vault")
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("aim", justify="right")
    table.add_column("")
    for name, value in numbers.items():
        if name.endswith(".count"):
            continue
        target = aims.get(name)
        verdict = "" if target is None else "met" if target.met(value) else "missed"
        table.add_row(name, f"{value:,.1f}" if value < 100 else f"{value:,.0f}", str(target or ""), verdict)
    console = Console(width=100)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
