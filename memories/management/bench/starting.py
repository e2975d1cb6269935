"""``bench start``: from the command to a hub that answers, the first time, with the sample vault, and the next time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from memories.management.bench.hub import hub_at, throwaway_folder

TIMES = 3
BARE = "import django, numpy, psycopg, pydantic"


def measure_starts() -> str:
    """The numbers as text, beside what this machine needs to import the largest libraries. Raises BenchFailed."""
    first, sample, later = list[float](), list[float](), list[float]()
    for _ in range(TIMES):
        with throwaway_folder() as data:
            first.append(_start(data))
            later.append(_start(data))
        with throwaway_folder() as data:
            sample.append(_start(data, "--demo"))
    return (
        f"first start {_written(first)}\nfirst start --demo {_written(sample)}\nnext start {_written(later)}\n"
        f"bare imports {_written([_imports() for _ in range(TIMES)])}; load {os.getloadavg()[0]:.1f}\n"
    )


def _start(data: Path, *options: str) -> float:
    started = time.perf_counter()
    with hub_at(data, *options):
        return time.perf_counter() - started


def _imports() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", BARE], check=True)
    return time.perf_counter() - started


def _written(seconds: list[float]) -> str:
    return f"{sorted(seconds)[len(seconds) // 2]:.1f} s ({min(seconds):.1f} to {max(seconds):.1f})"
