"""The clients: one that waits and one that is awaited, with every verb of the hub as a method.

They keep connections open between calls, send what may be sent again (writes carry an Idempotency-Key, so the hub does
them once), and raise a class of error for each kind of failure.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
import uuid
from types import TracebackType
from typing import Any, Self

import httpx2
from pydantic import ValidationError
from pydantic_core import to_json

from memoryhub.client.errors import (
    HubTimeout,
    HubUnreachable,
    MemoryHubError,
    NotConfigured,
    Problem,
    UnexpectedAnswer,
    error_of,
)
from memoryhub.client.methods import Methods
from memoryhub.client.request import Call
from memoryhub.client.retrying import SOME_RETRIES, Retries
from memoryhub.client.verbs import AsyncSender, Sender

SECONDS = 30.0
CONNECT_SECONDS = 5.0
#: What failed before a byte of the request was sent.
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)


class MemoryHub(Methods, Sender):
    """A hub to be called from anywhere; threads may share it. Close it, or use it in a ``with``.

    ``url`` and ``key`` come from MEMORYHUB_URL and MEMORYHUB_KEY unless given; ``timeout`` is in seconds.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = SECONDS,
        retries: Retries = SOME_RETRIES,
    ) -> None:
        address, headers = _address(url, key)
        self.retries = retries
        self._http = httpx2.Client(base_url=address, headers=headers, timeout=_timeout(timeout))

    def send[Answered](self, call: Call[Answered]) -> Answered:
        """The answer to a call, sent again where that may help. Raises MemoryHubError."""
        request = _request(self._http, call)
        for attempt in itertools.count(1):
            try:
                return _answer(call, self._http.send(request))
            except (httpx2.RequestError, MemoryHubError) as error:
                failure = _failure(error, request)
                pause = self.retries.pause(failure, attempt, repeatable=call.repeatable)
                if pause is None:
                    raise failure from (None if failure is error else error)
            time.sleep(pause)
        raise AssertionError("counting never ends")

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncMemoryHub(Methods, AsyncSender):
    """The same to be awaited; it belongs to the event loop it is first used in."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = SECONDS,
        retries: Retries = SOME_RETRIES,
    ) -> None:
        address, headers = _address(url, key)
        self.retries = retries
        self._http = httpx2.AsyncClient(base_url=address, headers=headers, timeout=_timeout(timeout))

    async def send[Answered](self, call: Call[Answered]) -> Answered:
        """The answer to a call, sent again where that may help. Raises MemoryHubError."""
        request = _request(self._http, call)
        for attempt in itertools.count(1):
            try:
                return _answer(call, await self._http.send(request))
            except (httpx2.RequestError, MemoryHubError) as error:
                failure = _failure(error, request)
                pause = self.retries.pause(failure, attempt, repeatable=call.repeatable)
                if pause is None:
                    raise failure from (None if failure is error else error)
            await asyncio.sleep(pause)
        raise AssertionError("counting never ends")

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _address(url: str | None, key: str | None) -> tuple[str, dict[str, str]]:
    at = (url or os.environ.get("MEMORYHUB_URL") or "").strip().rstrip("/").removesuffix("/api/v1")
    secret = (key or os.environ.get("MEMORYHUB_KEY") or "").strip()
    missing = [name for name, value in (("MEMORYHUB_URL", at), ("MEMORYHUB_KEY", secret)) if not value]
    if missing:
        detail = f"Where the hub is was not said: set {' and '.join(missing)}, or give url and key."
        raise NotConfigured(Problem(None, "not_configured", detail))
    try:
        httpx2.URL(at)
    except httpx2.InvalidURL as error:
        raise NotConfigured(Problem(None, "not_configured", f"{at} is no address: {error}.")) from error
    return f"{at}/api/v1", {"Authorization": f"Bearer {secret}", "User-Agent": "memoryhub-client"}


def _timeout(seconds: float) -> httpx2.Timeout:
    return httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


def _request(http: httpx2.Client | httpx2.AsyncClient, call: Call[Any]) -> httpx2.Request:
    """The request as it is sent, and sent again: with the same Idempotency-Key."""
    headers = dict(call.headers)
    if call.method in {"POST", "PATCH"}:
        headers["Idempotency-Key"] = uuid.uuid4().hex
    content = None
    if call.body is not None:
        headers["Content-Type"] = "application/json"
        content = to_json(call.body)
    return http.build_request(
        call.method, call.path, params=tuple(call.parameters) or None, content=content, headers=headers
    )


def _answer[Answered](call: Call[Answered], response: httpx2.Response) -> Answered:
    if not response.is_success:
        raise error_of(response.status_code, response.headers, response.content)
    try:
        return call.reads(response.content)
    except ValidationError as error:
        request_id = response.headers.get("X-Request-Id")
        detail = f"The answer to {call.method} {call.path} is not what a hub says: {error.error_count()} mistakes."
        raise UnexpectedAnswer(Problem(response.status_code, "unexpected_answer", detail, request_id)) from error


def _failure(error: Exception, request: httpx2.Request) -> MemoryHubError:
    if isinstance(error, MemoryHubError):
        return error
    arrived = not isinstance(error, _NEVER_SENT)
    where = f"{request.url.scheme}://{request.url.netloc.decode()}"
    if isinstance(error, httpx2.TimeoutException):
        return HubTimeout(Problem(None, "timeout", f"The hub at {where} took too long."), arrived=arrived)
    told = f"The hub at {where} did not answer ({str(error) or type(error).__name__})."
    return HubUnreachable(Problem(None, "unreachable", told), arrived=arrived)
