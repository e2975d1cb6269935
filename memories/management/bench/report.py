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


@dataclass(frozen=True)
class Target:
    """An aim: at most, or at least."""

    limit: float
    at_least: bool = False

    def met(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:,.0f}"


TARGETS: dict[str, Target] = {
    "write.one.p50_ms": Target(8),
    "write.one.p95_ms": Target(20),
    "batch.sustained_per_second": Target(500, at_least=True),
    "batch.burst_per_second": Target(1200, at_least=True),
    "search.p50_ms": Target(12),
    "search.p95_ms": Target(30),
    "search.times_neighbours": Target(15),
    "list.page.p95_ms": Target(150),
    "list.filtered.p95_ms": Target(150),
    "list.text.p95_ms": Target(150),
    "list.next_pages.p95_ms": Target(150),
    "list.facets.p95_ms": Target(200),
    "memory.web_mb": Target(350),
    "memory.worker_mb": Target(350),
}
"""Aims for 100,000 memories in one vault on the embedded default; smaller vaults should keep them easily."""


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


def as_json(memories: int, numbers: dict[str, float]) -> dict[str, Any]:
    """One flat object of numbers, the machine, and which aims were missed."""
    return {
        "taken_at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machine": asdict(this_machine()),
        "memories": memories,
        "numbers": {name: round(value, 3) for name, value in numbers.items()},
        "missed": [name for name, target in TARGETS.items() if name in numbers and not target.met(numbers[name])],
    }


def as_text(memories: int, numbers: dict[str, float]) -> str:
    """A table of what was measured, what was aimed at, and whether it was met."""
    table = Table(title=f"{memories:,} memories in one vault")
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("aim", justify="right")
    table.add_column("")
    for name, value in numbers.items():
        if name.endswith(".count"):
            continue
        target = TARGETS.get(name)
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
