"""The clients: one that waits and one that is awaited, with every verb of the hub as a method.

They keep connections open between calls, send what may be sent again (writes carry an Idempotency-Key, so the hub does
them once), and raise a class of error for each kind of failure.
"""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from types import TracebackType
from typing import Any, Never, Self

import anyio
import httpx2
from anyio.lowlevel import EventLoopToken, current_token

from memoryhub.client.address import find_address
from memoryhub.client.errors import ClientClosed, Problem
from memoryhub.client.methods import Methods
from memoryhub.client.request import Call
from memoryhub.client.retrying import SOME_RETRIES, Retries
from memoryhub.client.trying import FAILURES, Tries
from memoryhub.client.verbs import AsyncSender, Sender
from memoryhub.lib.deadlines import within

SECONDS = 30.0
_LOOPS_MAX = 8


class _Client:
    """What both clients are: an address, a patience, and connections that are theirs alone."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = SECONDS,
        retries: Retries = SOME_RETRIES,
    ) -> None:
        if not timeout > 0:
            raise ValueError("timeout is seconds, more than 0.")
        self._address = find_address(url, key)
        self.timeout = timeout
        self.retries = retries
        self._is_closed = False
        self._open()

    @abstractmethod
    def _open(self) -> None:
        """Get ready to call."""

    @property
    def url(self) -> str:
        """Where the hub is."""
        return self._address.url

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # frameworks copy agents with all they hold; connections are shared

    def __reduce__(self) -> Never:
        raise TypeError("A client holds a key and connections, which do not travel; make one in each process.")

    def _check_open(self) -> None:
        if self._is_closed:
            raise ClientClosed(Problem(None, "closed", f"{self!r} was closed."))


class MemoryHub(_Client, Methods, Sender):
    """A hub to be called from anywhere; threads may share it, and forked processes. Close it, or use it in a ``with``.

    ``url`` and ``key`` come from MEMORYHUB_URL and MEMORYHUB_KEY unless given; ``timeout`` is the seconds one try of a
    call may take in all.
    """

    def _open(self) -> None:
        self._process = os.getpid()
        self._http = self._address.open_client()

    def send[Answered](self, call: Call[Answered]) -> Answered:
        """The answer to a call, sent again where that may help. Raises MemoryHubError."""
        tries, http = Tries(call, self.retries, self.timeout), self._connections()
        request = tries.request(http)
        while True:
            try:
                with within(tries.seconds):
                    response, body = _answered(http, request, tries)
                return tries.answer(response, body)
            except FAILURES as error:
                pause = tries.pause(error, request)
            time.sleep(pause)

    def close(self) -> None:
        """Close the connections."""
        self._is_closed = True
        if self._process == os.getpid():
            self._http.close()

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connections(self) -> httpx2.Client:
        """Those of this process: a fork must not speak through its parent's."""
        self._check_open()
        if self._process != os.getpid():
            self._open()
        return self._http


class AsyncMemoryHub(_Client, Methods, AsyncSender):
    """The same to be awaited, under asyncio or trio; each event loop it is used in gets connections of its own."""

    def _open(self) -> None:
        self._https: dict[EventLoopToken, httpx2.AsyncClient] = {}

    async def send[Answered](self, call: Call[Answered]) -> Answered:
        """The answer to a call, sent again where that may help. Raises MemoryHubError."""
        tries, http = Tries(call, self.retries, self.timeout), self._connections()
        request = tries.request(http)
        while True:
            try:
                with anyio.fail_after(tries.seconds):
                    response, body = await _answered_later(http, request, tries)
                return tries.answer(response, body)
            except FAILURES as error:
                pause = tries.pause(error, request)
            await anyio.sleep(pause)

    async def close(self) -> None:
        """Close the connections."""
        self._is_closed = True
        here = self._https.pop(current_token(), None)
        self._https.clear()
        if here is not None:
            await here.aclose()

    async def __aenter__(self) -> Self:
        self._check_open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _connections(self) -> httpx2.AsyncClient:
        """Those of this event loop. Loops that ended take theirs along: only the latest few are remembered."""
        self._check_open()
        here = current_token()
        if here not in self._https:
            while len(self._https) >= _LOOPS_MAX:
                self._https.pop(next(iter(self._https)))
            self._https[here] = self._address.open_async_client()
        return self._https[here]


def _answered(http: httpx2.Client, request: httpx2.Request, tries: Tries[Any]) -> tuple[httpx2.Response, bytes]:
    response = http.send(request, stream=True)
    try:
        body = bytearray()
        for piece in response.iter_bytes():
            body += piece
            tries.measured(len(body), response)
    finally:
        response.close()
    return response, bytes(body)


async def _answered_later(
    http: httpx2.AsyncClient, request: httpx2.Request, tries: Tries[Any]
) -> tuple[httpx2.Response, bytes]:
    response = await http.send(request, stream=True)
    try:
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            tries.measured(len(body), response)
    finally:
        await response.aclose()
    return response, bytes(body)
