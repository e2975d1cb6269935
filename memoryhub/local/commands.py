"""The hub's own processes as commands: web, worker and beat."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memoryhub.env import BASE_DIR, Environment
from memoryhub.local.processes import SUPERVISED, Command
from memoryhub.local.readiness import WILDCARDS

if TYPE_CHECKING:
    from memoryhub.local.datadir import DataDir


@dataclass(frozen=True)
class HubPlan:
    """What ``up`` was asked for; ``workers`` is the number of job processes, 0 for none."""

    host: str
    port: int
    workers: int
    env: Environment


def web_command(plan: HubPlan, datadir: DataDir) -> Command:
    """Granian with threads: one process serves many requests, and the embedder is in memory once."""
    words = ["--interface", "wsgi", "--host", plan.host or "0.0.0.0", "--port", str(plan.port), "--no-ws"]
    words += ["--workers", str(plan.env.web_workers), "--blocking-threads", str(plan.env.web_threads)]
    words += ["--runtime-threads", "1", "--respawn-failed-workers", "--workers-kill-timeout", "5s"]
    words += ["--log-level", "error", "memoryhub.wsgi:application"]
    return Command(
        name="web",
        words=[sys.executable, "-m", "granian", *words],
        log=datadir.logs / "web.log",
        environment={
            **_environment(datadir, "web"),
            "MEMORYHUB_ALLOWED_HOSTS": _hosts(plan),
        },
        folder=BASE_DIR,
    )


def worker_command(plan: HubPlan, datadir: DataDir) -> Command:
    """A prefork worker: its time limits hold, and a killed child's task is run again."""
    words = ["worker", "--pool", "prefork", "--concurrency", str(plan.workers), "--loglevel", "INFO"]
    words += ["--hostname", f"{datadir.id}@%h", "--without-gossip", "--without-mingle"]
    return Command(
        name="worker",
        words=[sys.executable, "-m", "celery", "--quiet", "-A", "memoryhub", *words],
        log=datadir.logs / "worker.log",
        environment=_environment(datadir, "worker"),
        folder=BASE_DIR,
    )


def beat_command(datadir: DataDir) -> Command:
    """The clock that sends the sweeper round."""
    words = ["beat", "--schedule", str(datadir.root / "beat-schedule"), "--pidfile", "", "--loglevel", "WARNING"]
    return Command(
        name="beat",
        words=[sys.executable, "-m", "celery", "--quiet", "-A", "memoryhub", *words],
        log=datadir.logs / "beat.log",
        environment=_environment(datadir, "worker"),
        folder=BASE_DIR,
    )


def _environment(datadir: DataDir, process: str) -> dict[str, str]:
    return {
        **os.environ,
        "MEMORYHUB_DATA": str(datadir.root),
        "MEMORYHUB_PROCESS": process,
        SUPERVISED: str(os.getpid()),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(BASE_DIR), os.environ.get("PYTHONPATH", "")])),
        "PYTHONUNBUFFERED": "1",
        "MALLOC_ARENA_MAX": "2",  # many threads, little memory
        "PROMETHEUS_MULTIPROC_DIR": str(_metrics(datadir)),
        **_bytecode(datadir),
    }


def begin_metrics(datadir: DataDir) -> None:
    """Processes add their numbers up through files (MET-09), which begin anew with every start of the hub."""
    folder = _metrics(datadir)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


def _metrics(datadir: DataDir) -> Path:
    return datadir.root / "metrics"


def _bytecode(datadir: DataDir) -> dict[str, str]:
    """Where Python may not write beside its sources, compiling everything anew would take most of every start."""
    if not sys.dont_write_bytecode:
        return {}
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(datadir.root / "bytecode")}


def _hosts(plan: HubPlan) -> str:
    own = [socket.gethostname()] if plan.host in WILDCARDS else [plan.host]
    return ",".join(filter(None, [plan.env.allowed_hosts, *own]))
