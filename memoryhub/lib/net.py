"""The only way out: an HTTP client that cannot be led astray by an address, a redirect or an endless answer."""

from __future__ import annotations

import queue
import socket
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2

from memoryhub.lib.addresses import Reach, reach_of
from memoryhub.lib.authorities import authorities
from memoryhub.lib.deadlines import AnswerTooSlow as AnswerTooSlow
from memoryhub.lib.deadlines import left, timed, until
from memoryhub.lib.deadlines import within as within
from memoryhub.lib.errors import HubError, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator


class AddressRefused(HubError):
    """That address may not be called; use a public one, or allow private addresses if the service is your own."""

    code = "address_refused"
    kind = Kind.INVALID


class AnswerTooLarge(HubError):
    """The other side's answer is longer than the hub reads."""

    code = "answer_too_large"
    kind = Kind.UNAVAILABLE


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a call may go: seconds to connect, between two pieces of the answer, and in all; bytes of the answer."""

    connect: float = 3.0
    read: float = 15.0
    total: float = 30.0
    answer: int = 32 * 1024 * 1024


def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """The addresses of a host, all of them fit to be called.

    Raises AddressRefused when any of them is private (unless allowed) or of a kind no service has: link-local (cloud
    metadata), multicast, unspecified, reserved. Raises OSError when the name does not resolve, AnswerTooSlow when that
    takes too long.
    """
    addresses = list(dict.fromkeys(_look_up(host, port)))
    for text in addresses:
        reach = reach_of(text)
        if reach is Reach.NEVER or (reach is Reach.PRIVATE and not allow_private):
            raise AddressRefused(f"{host} leads to {text}, which the hub may not call.")
    return addresses


def _look_up(host: str, port: int) -> list[str]:
    """In a thread of its own: the system's resolver knows no deadline."""
    found: queue.SimpleQueue[list[Any] | OSError] = queue.SimpleQueue()

    def look() -> None:
        try:
            found.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            found.put(error)
        except ValueError:  # a label that is empty or too long, which the resolver is not even asked for
            found.put(OSError(f"{host} is no name of a host"))

    seconds = left()
    threading.Thread(target=look, name=f"resolve {host}", daemon=True).start()
    try:
        entries = found.get(timeout=seconds)
    except queue.Empty:
        raise AnswerTooSlow(f"{host} took too long to resolve.") from None
    if isinstance(entries, OSError):
        raise entries
    return [str(entry[4][0]) for entry in entries]


class _Bounded(httpx2.SyncByteStream):
    """An answer's body, cut off at a size and a moment."""

    def __init__(self, stream: httpx2.SyncByteStream, size: int, deadline: float) -> None:
        self._stream, self._left, self._deadline = stream, size, deadline

    def __iter__(self) -> Iterator[bytes]:
        pieces = iter(self._stream)
        while True:
            with until(self._deadline):
                piece = next(pieces, None)
            if piece is None:
                return
            self._left -= len(piece)
            if self._left < 0:
                raise AnswerTooLarge
            yield piece

    def close(self) -> None:
        self._stream.close()


class _GuardedTransport(httpx2.BaseTransport):
    """Resolves and checks the host itself and connects to exactly the address it checked (no DNS rebinding)."""

    def __init__(self, limits: Limits, allow_private: bool) -> None:
        self._inner = timed(httpx2.HTTPTransport(verify=authorities(trust_env=False), trust_env=False))
        self._limits = limits
        self._allow_private = allow_private

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        if url.scheme not in ("http", "https"):
            raise AddressRefused(f"The hub calls http and https addresses only, not {url.scheme}.")
        deadline = time.monotonic() + self._limits.total
        with until(deadline):
            response = self._first_answer(request)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            response.close()
            raise AnswerTooLarge("The other side sent a compressed answer, whose size cannot be limited.")
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Bounded(response.stream, self._limits.answer, deadline)
        return response

    def _first_answer(self, request: httpx2.Request) -> httpx2.Response:
        """From the first of the host's addresses that takes the connection."""
        url = request.url
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            addresses = resolve(url.host, port, allow_private=self._allow_private)
        except OSError as error:
            raise httpx2.ConnectError(f"{url.host} does not resolve", request=request) from error
        # The certificate is still checked against the name; only the connection goes to the address.
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        request.headers["Accept-Encoding"] = "identity"
        for address in addresses[:-1]:
            request.url = url.copy_with(host=address)
            try:
                return self._inner.handle_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        request.url = url.copy_with(host=addresses[-1])
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


def open_client(*, allow_private: bool = False, limits: Limits | None = None) -> httpx2.Client:
    """A client that follows no redirect, ignores proxy variables, keeps `limits` and calls no private address.

    Its calls raise AddressRefused, AnswerTooLarge and AnswerTooSlow beside httpx2's own errors.
    """
    limits = limits or Limits()
    return httpx2.Client(
        transport=_GuardedTransport(limits, allow_private),
        timeout=httpx2.Timeout(limits.read, connect=limits.connect),
        follow_redirects=False,
        trust_env=False,
    )
