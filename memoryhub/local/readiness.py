"""The web server's address: free before the start, answering after it."""

from __future__ import annotations

import http.client
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from memoryhub.lib.errors import HubError, Kind

if TYPE_CHECKING:
    from memoryhub.local.processes import Child

WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}


class AddressUnusable(HubError):
    """The web server cannot listen there."""

    code = "address_unusable"
    kind = Kind.CONFLICT


class NotReady(HubError):
    """The hub did not get ready in time."""

    code = "not_ready"
    kind = Kind.UNAVAILABLE


def refuse_taken_port(host: str, port: int) -> None:
    """Try the address, as the web server will. Raises AddressUnusable."""
    if not 1 <= port <= 65535:
        raise AddressUnusable(f"{port} is not a port; choose one from 1 to 65535 with --port.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except socket.gaierror:
        raise AddressUnusable(f"{host} is not an address of this machine; choose another with --host.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise AddressUnusable(
            f"Port {port} on {host} cannot be used ({reason.lower()}); choose another with --port."
        ) from None


def address(host: str, port: int) -> str:
    """The URL to open on this machine."""
    name = WILDCARDS.get(host, host)
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def wait_until_ready(host: str, port: int, web: Child, seconds: float = 180.0) -> None:
    """Return once /health/ready says yes. Raises NotReady when the web server ends first or time is up."""
    deadline = time.monotonic() + seconds
    while not _is_ready(WILDCARDS.get(host, host), port):
        if web.exit_code is not None:
            raise NotReady(f"The web server ended while it started; {web.command.log} says why.")
        if time.monotonic() > deadline:
            raise NotReady(f"The hub was not ready after {seconds:.0f} seconds; {web.command.log} says why.")
        time.sleep(0.05)


def _is_ready(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=5)
    with suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/health/ready", headers={"Host": "localhost"})
        return connection.getresponse().status == 200
    connection.close()
    return False
