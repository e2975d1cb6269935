"""The hub that is measured: one of the bench's own, thrown away or kept, or one somebody points at."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from memories.management.bench.client import BenchFailed
from memoryhub.env import BASE_DIR
from memoryhub.local.datadir import locate
from memoryhub.local.processes import Child, Command, start
from memoryhub.local.store import discard

#: A kept store may have to migrate a million rows first.
READY_WITHIN = 600.0
NOT_ITS_OWN = ("DATABASE_URL", "BROKER_URL", "MEMORYHUB_DATA")
# Requests are counted as always, but a bench would reach the usual limits within seconds.
UNHINDERED = {"MEMORYHUB_RATE_LIMIT_READS": "1000000", "MEMORYHUB_RATE_LIMIT_WRITES": "1000000"}


@dataclass(frozen=True)
class Hub:
    """Where it answers; the rest is known only of a hub of our own."""

    url: str
    key: str
    username: str = ""
    password: str = ""
    database_url: str | None = None
    data: Path | None = None
    process: int | None = None


@contextmanager
def throwaway_hub(*options: str) -> Iterator[Hub]:
    """A fresh hub on a free port, gone with its data when the block ends; ``options`` are those of ``up``.

    Raises BenchFailed when it does not start.
    """
    with throwaway_folder() as data, hub_at(data, *options) as hub:
        yield hub


@contextmanager
def throwaway_folder() -> Iterator[Path]:
    """A folder for a hub's data, gone with all a hub put there or elsewhere for it when the block ends."""
    with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as folder:
        data = Path(folder) / "data"
        try:
            yield data
        finally:
            if data.exists():
                discard(locate(data))


@contextmanager
def hub_at(data: Path, *options: str) -> Iterator[Hub]:
    """The hub of a data folder, made when there is none, on a free port until the block ends; the data stays.

    Raises BenchFailed when it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as folder:
        words = [sys.executable, str(BASE_DIR / "manage.py"), "up", f"--port={_free_port()}", f"--data={data}"]
        command = Command(
            name="hub",
            words=[*words, *options],
            log=Path(folder) / "hub.log",
            environment={name: value for name, value in os.environ.items() if name not in NOT_ITS_OWN} | UNHINDERED,
            stop_signal=signal.SIGINT,
            patience=60.0,
        )
        child = start(command)
        try:
            bootstrap = _wait_until_ready(child, data / "bootstrap.json")
            yield Hub(
                url=bootstrap["url"].rstrip("/"),
                key=bootstrap["api_key"],
                username=bootstrap["admin_username"],
                password=bootstrap["admin_password"],
                database_url=locate(data).database_url,
                data=data,
                process=child.process.pid,
            )
        finally:
            child.stop()


def resident_megabytes(process: int) -> dict[str, float]:
    """The largest resident process of each kind below ``up``: web, worker, beat.

    The database is left out: its processes share most of what each seems to have.
    """
    families = _families(process).items()
    return {kind: max(_resident(each) for each in family) for kind, family in families if kind != "database"}


def processor_seconds(process: int) -> dict[str, float]:
    """What web and database have computed since they started; unlike a latency it hardly feels other programs."""
    families = _families(process).items()
    return {kind: sum(_computed(each) for each in family) for kind, family in families if kind in {"web", "database"}}


def _families(process: int) -> dict[str, list[psutil.Process]]:
    families: dict[str, list[psutil.Process]] = {}
    for child in psutil.Process(process).children():
        if kind := _kind(child):
            families.setdefault(kind, []).extend([child, *child.children(recursive=True)])
    return families


def _kind(process: psutil.Process) -> str | None:
    line = " ".join(process.cmdline())
    if "bin/postgres" in line:
        return "database"
    if "granian" in line:
        return "web"
    if "celery" in line:
        return "beat" if " beat " in line else "worker"
    return None


def _resident(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss) / 2**20
    except psutil.NoSuchProcess:
        return 0.0  # it ended while we looked


def _computed(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(child: Child, bootstrap: Path) -> dict[str, Any]:
    """What the first start wrote, once ``up`` has said where it listens: then everything runs and sample data is in."""
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline and child.exit_code is None:
        if bootstrap.exists():
            told: dict[str, Any] = json.loads(bootstrap.read_text())
            if told["url"] in child.command.log.read_text():
                return told
        time.sleep(0.1)
    raise BenchFailed(f"The hub did not start: {child.command.log.read_text()[-2000:]}")
