"""What is sent for a call, what its answer means, and what is decided between one try and the next. Sends nothing."""

from __future__ import annotations

import uuid
from typing import Any

import httpx2
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from memoryhub.client.errors import (
    HubTimeout,
    HubUnreachable,
    Invalid,
    MemoryHubError,
    Problem,
    UnexpectedAnswer,
    error_of,
)
from memoryhub.client.request import Call, nothing
from memoryhub.client.retrying import Retries
from memoryhub.lib.deadlines import AnswerTooSlow

CONNECT_SECONDS = 5.0
#: What sending may raise; anything else is a mistake of ours.
FAILURES = (httpx2.RequestError, MemoryHubError, AnswerTooSlow, TimeoutError)
#: What failed before a byte of the request was sent.
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
_TOOK_TOO_LONG = (httpx2.TimeoutException, AnswerTooSlow, TimeoutError)


class Tries[Answered]:
    """The tries of one call, from the first to the one that is answered or the last."""

    def __init__(self, call: Call[Answered], retries: Retries, timeout: float) -> None:
        self.call = call
        self.retries = retries
        #: Seconds one try may take in all; None where the answer comes as it is made, and only silence ends it.
        self.seconds = None if call.is_long else timeout + call.waits
        self._limits = httpx2.Timeout(timeout + call.waits, connect=min(timeout, CONNECT_SECONDS))
        self._number = 1
        self._may_be_done = False

    def request(self, http: httpx2.Client | httpx2.AsyncClient) -> httpx2.Request:
        """What is sent, also again: one Idempotency-Key. Raises Invalid for what JSON or an address cannot hold."""
        call, headers, content = self.call, dict(self.call.headers), None
        if call.method in {"POST", "PATCH"}:
            headers["Idempotency-Key"] = uuid.uuid4().hex
        if call.body is not None:
            headers["Content-Type"] = "application/json"
            content = _written(call.body)
        parameters = tuple(call.parameters) or None
        try:
            return http.build_request(
                call.method, call.path, params=parameters, content=content, headers=headers, timeout=self._limits
            )
        except (UnicodeEncodeError, httpx2.InvalidURL) as error:
            raise Invalid(Problem(None, "no_address", f"This cannot be said in an address: {error}.")) from None

    def answer(self, response: httpx2.Response, body: bytes) -> Answered:
        """What the hub said, as the caller gets it. Raises MemoryHubError."""
        call = self.call
        if response.status_code == 404 and self._may_be_done and call.method == "DELETE" and call.reads is nothing:
            return call.reads(b"")
        if not response.is_success:
            error = error_of(response.status_code, response.headers, body)
            if self._may_be_done:
                error.add_note("An earlier try, whose answer was lost, may have done it.")
            raise error
        try:
            return call.reads(body)
        except (ValidationError, UnicodeDecodeError) as error:
            detail = f"The answer to {call.method} {call.path} is not what a hub says ({_mistake(error)})."
            problem = Problem(response.status_code, "unexpected_answer", detail, response.headers.get("X-Request-Id"))
            raise UnexpectedAnswer(problem) from None

    def pause(self, error: Exception, request: httpx2.Request) -> float:
        """Seconds to the next try. Raises the MemoryHubError when there is none."""
        failure = _failure(error, request)
        pause = self.retries.pause(failure, self._number, repeatable=self.call.repeatable)
        if pause is None:
            raise failure from None  # it says why; the library's own errors stay in its __context__
        self._number += 1
        lost = failure.arrived if isinstance(failure, HubUnreachable) else failure.status in (502, 504)
        self._may_be_done = self._may_be_done or lost
        return pause

    def measured(self, size: int, response: httpx2.Response) -> int:
        """The size of an answer so far. Raises UnexpectedAnswer when it is more than a hub sends."""
        if size > self.call.most:
            detail = f"The answer to {self.call.method} {self.call.path} has more than {self.call.most:,} bytes."
            raise UnexpectedAnswer(Problem(response.status_code, "answer_too_large", detail))
        return size


def _mistake(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return "it is no text"
    first = error.errors(include_url=False, include_input=False)[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))


def _written(body: Any) -> bytes:
    try:
        return to_json(body)
    except PydanticSerializationError as error:
        raise Invalid(Problem(None, "no_json", f"This cannot be said in JSON: {error}.")) from None


def _failure(error: Exception, request: httpx2.Request) -> MemoryHubError:
    if isinstance(error, MemoryHubError):
        return error
    arrived = not isinstance(error, _NEVER_SENT)
    where = f"{request.url.scheme}://{request.url.netloc.decode()}"
    if isinstance(error, _TOOK_TOO_LONG):
        return HubTimeout(Problem(None, "timeout", f"The hub at {where} took too long."), arrived=arrived)
    told = str(error) or type(error).__name__
    if isinstance(error, httpx2.ConnectError):
        detail = f"No hub can be reached at {where} ({told}). Start it (`uv run manage.py up`), or correct the address."
    else:
        detail = f"The hub at {where} did not answer ({told})."
    return HubUnreachable(Problem(None, "unreachable", detail), arrived=arrived)
