"""``bench import``: a file of our own format, brought in by the command with a worker running beside it.

One row in twenty-five says what an earlier one says, word for word; one in twenty says it with another number or with
a word more. Halfway through, with ``--kill``, whoever works on it is killed and the command is given again.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
from rich.console import Console

from memories.management.bench.client import BenchFailed, HubClient
from memories.management.bench.hub import NOT_ITS_OWN, Hub, throwaway_hub
from memories.management.bench.words import Author
from memories.rules.exchange import FORMAT, VERSION, written
from memoryhub.env import BASE_DIR

WITHIN, LOOK_EVERY = 3_600.0, 0.5
SAME, ALIKE = 0.04, 0.05
TENTHS = 10
_HOME = UUID(int=1)


@dataclass
class Watched:
    """What was seen of one import: when each tenth of each stage was reached, and what came of it."""

    rows: int
    reached: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    seconds: float = 0.0
    processor: dict[str, float] = field(default_factory=dict)
    made: dict[str, int] = field(default_factory=dict)
    killed: int = 0

    def saw(self, stage: str, done: int) -> None:
        """How far it is now."""
        marks = self.reached.setdefault(stage, [])
        if not marks or marks[-1][1] < done:
            marks.append((time.monotonic(), done))

    def rate(self, stage: str) -> float:
        """Rows a second over a whole stage."""
        marks = self.reached.get(stage, [])
        return _speed(marks[0], marks[-1]) if len(marks) > 1 else 0.0

    def tenths(self, stage: str) -> list[float]:
        """Rows a second in each tenth of a stage."""
        marks = self.reached.get(stage, [])
        steps = [next((m for m in marks if m[1] >= self.rows * tenth / TENTHS), None) for tenth in range(TENTHS + 1)]
        seen = [step for step in steps if step is not None]
        return [_speed(one, other) for one, other in pairwise(seen) if other[1] > one[1]]


def _speed(one: tuple[float, int], other: tuple[float, int]) -> float:
    return (other[1] - one[1]) / max(other[0] - one[0], 1e-6)


def measure_import(rows: int, seed: int, console: Console, *, kill: bool = False) -> str:
    """The numbers as text. Raises BenchFailed."""
    with throwaway_hub() as hub:
        assert hub.data is not None
        path = hub.data / "bench.jsonl"
        path.write_bytes(b"".join(export_lines(rows, seed)))
        console.print(f"importing {rows:,} rows, {path.stat().st_size >> 20} MiB …")
        seen = _watched(hub, path, rows, kill=kill)
        _compare(hub, path, rows, seen)
    return _told(seen)


def export_lines(rows: int, seed: int) -> Iterator[bytes]:
    """A file such as an export gives: header, ``rows`` memories, trailer."""
    digest, author = hashlib.sha256(), Author(seed)
    head = {"kind": "header", "format": FORMAT, "version": VERSION, "exported_at": "2026-07-01T00:00:00+00:00"}
    lines = [{**head, "vault": {"id": str(_HOME), "name": "bench"}, "counts": {"memory": rows}}]
    for line in (*lines, *(_memory(author, number) for number in range(rows))):
        text = written(line)
        digest.update(text)
        yield text
    yield written({"kind": "trailer", "lines": rows + 1, "sha256": digest.hexdigest()})


def _memory(author: Author, number: int) -> dict[str, Any]:
    dice = random.Random(f"{author.seed}:import:{number}")
    drawn = dice.random()
    earlier = dice.randrange(number) if number and drawn < SAME + ALIKE else number
    said = author.memory(earlier)
    if earlier != number and drawn >= SAME:
        said["content"] = _alike(dice, said["content"])
    name = hashlib.sha256(f"{author.seed}:import:{number}".encode()).digest()
    head = {"kind": "memory", "id": str(UUID(bytes=name[:16]))}
    said |= {"updated_at": said["created_at"], "trust": "untrusted", "source_kind": "import"}
    return head | said


def _alike(dice: random.Random, text: str) -> str:
    """The same with another number in it, or with a word more."""
    digits = [place for place, one in enumerate(text) if one.isdigit()]
    if digits and dice.random() < 0.5:
        place = dice.choice(digits)
        return f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}"
    return f"Actually, {text}"


def _watched(hub: Hub, path: Path, rows: int, *, kill: bool) -> Watched:
    seen, started, before = Watched(rows), time.monotonic(), _computed(hub)
    command = _command(hub, path)
    with HubClient(hub.url, hub.key) as client:
        while True:
            time.sleep(LOOK_EVERY)
            found = next(iter(client.get("/api/v1/imports").json()["items"]), None)
            if found is not None and found["job"] is not None:
                seen.saw(found["job"]["stage"], found["job"]["done"])
                if (
                    kill
                    and not seen.killed
                    and found["job"]["stage"] == "importing"
                    and found["job"]["done"] > rows / 2
                ):
                    seen.killed = _kill(hub, command)
                    command = _command(hub, path)
            if command.poll() is not None:
                break
            seen.processor["command"] = _spent(psutil.Process(command.pid))
            if time.monotonic() - started > WITHIN:
                raise BenchFailed(f"The import is not done after {WITHIN:.0f} s.")
        seen.seconds = time.monotonic() - started
        last = client.get("/api/v1/imports").json()["items"][0]
    after = _computed(hub)
    seen.processor |= {kind: after[kind] - before[kind] for kind in after}
    if command.returncode not in {0, 1} or last["state"] != "done":
        raise BenchFailed(f"The import ended with {command.returncode}: {last['state']} {last['error']}")
    seen.made = last["made"]["memory"]
    return seen


def _computed(hub: Hub) -> dict[str, float]:
    """Processor seconds so far of the database, with its connections that ended, and of everything else of the hub."""
    everything = [psutil.Process(hub.process), *psutil.Process(hub.process).children(recursive=True)]
    database = [one for one in everything if "postgres" in one.name()]
    spent = sum(map(_spent, database))
    return {"database": spent, "hub": sum(map(_spent, everything)) - spent}


def _spent(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0  # it ended while we looked
    return float(times.user + times.system + times.children_user + times.children_system)


def _command(hub: Hub, path: Path) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in NOT_ITS_OWN}
    words = [sys.executable, str(BASE_DIR / "manage.py"), "import", "memoryhub", str(path), "--dedup"]
    return subprocess.Popen(words, env=environment | {"MEMORYHUB_DATA": str(hub.data)}, stdout=subprocess.DEVNULL)


def _kill(hub: Hub, command: subprocess.Popen[bytes]) -> int:
    """The command and every worker process: whoever has the job is gone, and nobody had a chance to say so."""
    command.kill()
    command.wait()
    killed = 1
    for child in psutil.Process(hub.process).children(recursive=True):
        if (
            "celery" in " ".join(child.cmdline())
            and " beat " not in " ".join(child.cmdline())
            and child.children() == []
        ):
            child.send_signal(signal.SIGKILL)
            killed += 1
    return killed


def _compare(hub: Hub, path: Path, rows: int, seen: Watched) -> None:
    """Every row is accounted for, and the same file again brings nothing. Raises BenchFailed."""
    counted = sum(seen.made.values())
    with HubClient(hub.url, hub.key) as client:
        there = client.get("/api/v1/memories?archived=any&status=any&limit=1").json()["total"]
    if counted != rows or there != seen.made.get("new", 0):
        raise BenchFailed(f"{counted} of {rows} rows are accounted for, {there} are there, {seen.made} were made.")


def _told(seen: Watched) -> str:
    lines = [f"{seen.rows:,} rows in {seen.seconds:.0f} s, taken in and checked included"]
    for stage in ("checking", "importing"):
        tenths = ", ".join(f"{rate:,.0f}" for rate in seen.tenths(stage))
        lines.append(f"{stage}: {seen.rate(stage):,.0f} rows/s; by tenth: {tenths}")
    lines.append("processor seconds: " + ", ".join(f"{kind} {spent:.0f}" for kind, spent in seen.processor.items()))
    lines.append("made: " + ", ".join(f"{count:,} {fate}" for fate, count in seen.made.items()))
    if seen.killed:
        lines.append(f"{seen.killed} processes were killed halfway; every row is there once")
    return "\n".join(lines) + "\n"
