"""The only way out: an HTTP client that cannot be led astray by an address, a redirect or an endless answer."""

from __future__ import annotations

import ipaddress
import math
import queue
import socket
import threading
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2

from memoryhub.lib.errors import HubError, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

type Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_SHARED = ipaddress.ip_network("100.64.0.0/10")  # carrier-grade NAT; also used by mesh VPNs


class AddressRefused(HubError):
    """That address may not be called; use a public one, or allow private addresses if the service is your own."""

    code = "address_refused"
    kind = Kind.INVALID


class AnswerTooLarge(HubError):
    """The other side's answer is longer than the hub reads."""

    code = "answer_too_large"
    kind = Kind.UNAVAILABLE


class AnswerTooSlow(HubError):
    """The other side took too long over its answer."""

    code = "answer_too_slow"
    kind = Kind.UNAVAILABLE


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a call may go: seconds to connect, between two pieces of the answer, and in all; bytes of the answer."""

    connect: float = 3.0
    read: float = 15.0
    total: float = 30.0
    answer: int = 32 * 1024 * 1024


_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Every call inside is over so many seconds from now, whatever its client would allow; None changes nothing."""
    with _until(math.inf if seconds is None else time.monotonic() + seconds):
        yield


@contextmanager
def _until(moment: float) -> Iterator[None]:
    token = _deadline.set(min(moment, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


def _left(most: float | None = None) -> float | None:
    """Seconds the next step may take, at most ``most``; None is no limit. Raises AnswerTooSlow when none are left."""
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise AnswerTooSlow
    least = min(left, math.inf if most is None else most)
    return None if math.isinf(least) else least


def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """The addresses of a host, all of them fit to be called.

    Raises AddressRefused when any of them is private (unless allowed) or of a kind no service has: link-local (cloud
    metadata), multicast, unspecified, reserved. Raises OSError when the name does not resolve, AnswerTooSlow when that
    takes too long.
    """
    addresses = list(dict.fromkeys(_look_up(host, port)))
    for text in addresses:
        if not _may_call(_plain(ipaddress.ip_address(text.partition("%")[0])), allow_private):
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

    seconds = _left()
    threading.Thread(target=look, name=f"resolve {host}", daemon=True).start()
    try:
        entries = found.get(timeout=seconds)
    except queue.Empty:
        raise AnswerTooSlow(f"{host} took too long to resolve.") from None
    if isinstance(entries, OSError):
        raise entries
    return [str(entry[4][0]) for entry in entries]


def _plain(address: Address) -> Address:
    """An IPv4 address that came dressed as IPv6, undressed."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _may_call(address: Address, allow_private: bool) -> bool:
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return False
    site_local = isinstance(address, ipaddress.IPv6Address) and address.is_site_local  # fec0::/10, global to Python
    private = address.is_loopback or address.is_private or site_local or (address.version == 4 and address in _SHARED)
    if private:
        return allow_private
    return address.is_global and not address.is_reserved


class _Bounded(httpx2.SyncByteStream):
    """An answer's body, cut off at a size and a moment."""

    def __init__(self, stream: httpx2.SyncByteStream, size: int, deadline: float) -> None:
        self._stream, self._left, self._deadline = stream, size, deadline

    def __iter__(self) -> Iterator[bytes]:
        pieces = iter(self._stream)
        while True:
            with _until(self._deadline):
                piece = next(pieces, None)
            if piece is None:
                return
            self._left -= len(piece)
            if self._left < 0:
                raise AnswerTooLarge
            yield piece

    def close(self) -> None:
        self._stream.close()


class _TimedStream:
    """A connection that waits no longer than the deadline allows: the client's own limits start anew at every byte."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        piece: bytes = self._stream.read(max_bytes, _left(timeout))
        return piece

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(timeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, _left(timeout)))

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _TimedBackend:
    """Opens connections as the client would, and times them."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **more: Any) -> _TimedStream:
        return _TimedStream(self._backend.connect_tcp(host, port, timeout=_left(timeout), **more))


class _GuardedTransport(httpx2.BaseTransport):
    """Resolves and checks the host itself and connects to exactly the address it checked (no DNS rebinding)."""

    def __init__(self, limits: Limits, allow_private: bool) -> None:
        self._inner = httpx2.HTTPTransport(trust_env=False)
        pool: Any = self._inner._pool  # the transport offers no other way to its sockets
        pool._network_backend = _TimedBackend(pool._network_backend)
        self._limits = limits
        self._allow_private = allow_private

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        if url.scheme not in ("http", "https"):
            raise AddressRefused(f"The hub calls http and https addresses only, not {url.scheme}.")
        deadline = time.monotonic() + self._limits.total
        with _until(deadline):
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
