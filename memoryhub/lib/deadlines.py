"""A moment by which calls to other machines are over: an HTTP client's own limits start anew at every byte."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx2

from memoryhub.lib.errors import HubError, Kind


class AnswerTooSlow(HubError):
    """The other side took too long over its answer."""

    code = "answer_too_slow"
    kind = Kind.UNAVAILABLE


_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Every call inside is over so many seconds from now, whatever its client would allow; None changes nothing."""
    with until(math.inf if seconds is None else time.monotonic() + seconds):
        yield


@contextmanager
def until(moment: float) -> Iterator[None]:
    """The same by a moment of the monotonic clock. An earlier deadline outside of it holds."""
    token = _deadline.set(min(moment, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


def left(most: float | None = None) -> float | None:
    """Seconds the next step may take, at most ``most``; None is no limit. Raises AnswerTooSlow when none are left."""
    remaining = _deadline.get() - time.monotonic()
    if remaining <= 0:
        raise AnswerTooSlow
    least = min(remaining, math.inf if most is None else most)
    return None if math.isinf(least) else least


def timed(transport: httpx2.HTTPTransport) -> httpx2.HTTPTransport:
    """The transport, whose connections keep the deadline from now on."""
    pool: Any = transport._pool  # the transport offers no other way to its sockets
    pool._network_backend = _TimedBackend(pool._network_backend)
    return transport


class _TimedStream:
    """A connection that waits no longer than the deadline allows."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        piece: bytes = self._stream.read(max_bytes, left(timeout))
        return piece

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, left(timeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, left(timeout)))

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _TimedBackend:
    """Opens connections as the client would, and times them."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **more: Any) -> _TimedStream:
        return _TimedStream(self._backend.connect_tcp(host, port, timeout=left(timeout), **more))
