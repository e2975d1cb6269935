"""The only way out: an HTTP client that cannot be led astray by an address, a redirect or an endless answer."""

from __future__ import annotations

import ipaddress
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

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


def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """The addresses of a host, all of them fit to be called.

    Raises AddressRefused when any of them is private (unless allowed) or of a kind no service has: link-local (cloud
    metadata), multicast, unspecified, reserved. Raises OSError when the name does not resolve.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for text in addresses:
        if not _may_call(_plain(ipaddress.ip_address(text.partition("%")[0])), allow_private):
            raise AddressRefused(f"{host} leads to {text}, which the hub may not call.")
    return addresses


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
    private = address.is_loopback or address.is_private or (address.version == 4 and address in _SHARED)
    if private:
        return allow_private
    return address.is_global and not address.is_reserved


class _Bounded(httpx2.SyncByteStream):
    """An answer's body, cut off at a size and a moment."""

    def __init__(self, stream: httpx2.SyncByteStream, size: int, deadline: float) -> None:
        self._stream, self._left, self._deadline = stream, size, deadline

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            self._left -= len(piece)
            if self._left < 0:
                raise AnswerTooLarge
            if time.monotonic() > self._deadline:
                raise AnswerTooSlow
            yield piece

    def close(self) -> None:
        self._stream.close()


class _GuardedTransport(httpx2.BaseTransport):
    """Resolves and checks the host itself and connects to exactly the address it checked (no DNS rebinding)."""

    def __init__(self, limits: Limits, allow_private: bool) -> None:
        self._inner = httpx2.HTTPTransport(trust_env=False)
        self._limits = limits
        self._allow_private = allow_private

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        if url.scheme not in ("http", "https"):
            raise AddressRefused(f"The hub calls http and https addresses only, not {url.scheme}.")
        deadline = time.monotonic() + self._limits.total
        try:
            addresses = resolve(
                url.host, url.port or (443 if url.scheme == "https" else 80), allow_private=self._allow_private
            )
        except OSError as error:
            raise httpx2.ConnectError(f"{url.host} does not resolve", request=request) from error
        # The certificate is still checked against the name; only the connection goes to the address.
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        request.url = url.copy_with(host=addresses[0])
        request.headers["Accept-Encoding"] = "identity"
        response = self._inner.handle_request(request)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            response.close()
            raise AnswerTooLarge("The other side sent a compressed answer, whose size cannot be limited.")
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Bounded(response.stream, self._limits.answer, deadline)
        return response

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
