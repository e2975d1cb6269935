"""The embedded PostgreSQL: our own child in the foreground, on a private socket, never a daemon."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from memoryhub.lib.errors import HubError, Kind
from memoryhub.local.engine import MAJOR, programs
from memoryhub.local.memorysize import memory_settings
from memoryhub.local.processes import Child, Command, start
from memoryhub.local.store import prepare_store
from memoryhub.local.systemuser import give, server_user

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memoryhub.local.datadir import DataDir

START_SECONDS = 60.0
ROLE = DATABASE = "memoryhub"
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "random_page_cost": "1.1",
    "jit": "off",
    "fsync": "on",
    "synchronous_commit": "on",
    "wal_compression": "on",
    "max_wal_size": "2GB",
    "checkpoint_timeout": "15min",
    # Look every 5 s instead of every minute: a vault just filled has no statistics, and without them the planner joins
    # 1,000 neighbours to 4,000 memories by comparing each with each (measured: 1.6 s instead of 30 ms).
    "autovacuum_naptime": "5s",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # A log must never quote what somebody wrote: no statements, no parameters, no values of a failed row.
    "log_min_error_statement": "panic",
    "log_min_duration_statement": "-1",
    "log_parameter_max_length_on_error": "0",
    "log_error_verbosity": "terse",
}


class PostgresFailed(HubError):
    """The embedded PostgreSQL did not start."""

    code = "postgres_failed"
    kind = Kind.UNAVAILABLE


@dataclass(frozen=True)
class PostgresServer:
    """A running server."""

    url: str
    child: Child

    def stop(self) -> None:
        """Disconnect everybody, write everything down, end."""
        self.child.stop()


def start_postgres(datadir: DataDir, settings: Mapping[str, str] | None = None) -> PostgresServer:
    """Start the folder's PostgreSQL, made first if need be, and return once it answers. Raises PostgresFailed.

    ``settings`` are further server settings, for tests that may lose their data.
    """
    user = server_user()
    prepare_store(datadir, user)
    folder = programs(user)
    if not (datadir.postgres / "PG_VERSION").exists():
        _create_cluster(datadir, folder, user)
    _refuse_other_version(datadir)
    _wait_for_predecessor(datadir)
    child = start(_command(datadir, folder, user, {**SETTINGS, **memory_settings(), **(settings or {})}))
    try:
        _wait_until_ready(datadir, child)
        _create_database(datadir)
    except BaseException:
        child.kill()
        raise
    return PostgresServer(datadir.database_url, child)


def answers(url: str) -> bool:
    """Whether a PostgreSQL takes connections there now."""
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _command(datadir: DataDir, folder: Path, user: str | None, settings: Mapping[str, str]) -> Command:
    words = [str(folder / "postgres"), "-D", str(datadir.postgres), "-k", str(datadir.run)]
    for name, value in settings.items():
        words += ["-c", f"{name}={value}"]
    return Command(
        name="postgres",
        words=words,
        log=datadir.logs / "postgres.log",
        environment=_environment(),
        user=user,
        folder=datadir.postgres,
        stop_signal=signal.SIGINT,  # "fast": does not wait for clients
        death_signal=signal.SIGINT,
        patience=30.0,
    )


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def _create_cluster(datadir: DataDir, folder: Path, user: str | None) -> None:
    unfinished = datadir.store / "postgres.new"
    if unfinished.exists():
        subprocess.run(["rm", "-rf", "--", str(unfinished)], check=True)
    unfinished.mkdir(mode=0o700)
    give(unfinished, user)
    words = [folder / "initdb", "-D", unfinished, "-U", ROLE, "--auth=trust", "--encoding=UTF8", "--data-checksums"]
    words += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-instructions"]
    done = subprocess.run(
        [str(word) for word in words],
        user=user,
        group=user,
        extra_groups=[] if user else None,
        cwd=unfinished,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise PostgresFailed(f"The embedded PostgreSQL could not be set up in {datadir.store}: {reason[0]}")
    unfinished.rename(datadir.postgres)


def _refuse_other_version(datadir: DataDir) -> None:
    found = (datadir.postgres / "PG_VERSION").read_text().strip()
    if found != str(MAJOR):
        raise PostgresFailed(f"{datadir.postgres} was written by PostgreSQL {found}, and this hub brings {MAJOR}.")


def _wait_for_predecessor(datadir: DataDir) -> None:
    """A hub that was killed leaves a server that is just shutting down."""
    pid_file, deadline = datadir.postgres / "postmaster.pid", time.monotonic() + START_SECONDS
    while pid_file.exists() and _is_alive(pid_file, datadir):
        if time.monotonic() > deadline:
            raise PostgresFailed(f"Another PostgreSQL is running on {datadir.postgres}; stop it and start again.")
        time.sleep(0.02)


def _is_alive(pid_file: Path, datadir: DataDir) -> bool:
    try:
        pid = int(pid_file.read_text().split("\n", 1)[0])
        command_line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return False
    return str(datadir.postgres).encode() in command_line


def _wait_until_ready(datadir: DataDir, child: Child) -> None:
    deadline = time.monotonic() + START_SECONDS
    maintenance = datadir.database_url.replace(f"/{DATABASE}?", "/postgres?")
    while not answers(maintenance):
        if child.exit_code is not None or time.monotonic() > deadline:
            raise PostgresFailed(f"The embedded PostgreSQL did not start; {child.command.log} says why.")
        time.sleep(0.02)


def _create_database(datadir: DataDir) -> None:
    maintenance = datadir.database_url.replace(f"/{DATABASE}?", "/postgres?")
    with psycopg.connect(maintenance, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
    with psycopg.connect(datadir.database_url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
