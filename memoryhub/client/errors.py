"""What can go wrong with a call, a class for each kind; the docstring of a class says what to do next."""

from __future__ import annotations

import datetime as dt
import inspect
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class FieldMistake:
    """One mistake in one place of what was sent; ``pointer`` is a JSON pointer such as ``/items/3/content``."""

    pointer: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Problem:
    """What the hub said: ``code`` is stable, ``detail`` is for people, ``more`` holds what this error adds."""

    status: int | None
    code: str
    detail: str
    request_id: str | None = None
    errors: Sequence[FieldMistake] = ()
    retry_after: float | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


class MemoryHubError(Exception):
    """Something went wrong; the hub's log has the details under the request id."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.detail)

    @property
    def status(self) -> int | None:
        """The HTTP status; None when nothing was answered."""
        return self.problem.status

    @property
    def code(self) -> str:
        """What exactly is wrong, in a word that does not change between versions."""
        return self.problem.code

    @property
    def errors(self) -> Sequence[FieldMistake]:
        """Which fields are wrong."""
        return self.problem.errors

    @property
    def request_id(self) -> str | None:
        """What the hub's log calls the request."""
        return self.problem.request_id

    @property
    def retry_after(self) -> float | None:
        """After how many seconds the hub asks to try again."""
        return self.problem.retry_after

    @property
    def advice(self) -> str:
        """What to do next."""
        return " ".join(inspect.cleandoc(type(self).__doc__ or "").split())

    def __reduce__(self) -> tuple[Any, ...]:
        return _same_again, (type(self), self.__dict__)

    def __str__(self) -> str:
        places = "".join(f"\n  {one.pointer}: {one.detail}" for one in self.errors)
        named = f", request {self.request_id}" if self.request_id else ""
        return f"{self.problem.detail} ({self.code}{named}){places}"


def _same_again(kind: type[MemoryHubError], state: Mapping[str, Any]) -> MemoryHubError:
    """An error that came from another process."""
    error = kind.__new__(kind, state["problem"].detail)
    error.__dict__.update(state)
    return error


class NotConfigured(MemoryHubError):
    """Say where the hub is: set MEMORYHUB_URL and MEMORYHUB_KEY, or give url and key."""


class ClientClosed(MemoryHubError):
    """The client was closed before; make another one, or close it later."""


class HubUnreachable(MemoryHubError):
    """The hub did not answer; see that it runs and that the address is right, then send it again."""

    def __init__(self, problem: Problem, *, arrived: bool) -> None:
        super().__init__(problem)
        #: False when the request surely never reached the hub.
        self.arrived = arrived


class HubTimeout(HubUnreachable):
    """The hub took too long; send it again, or give the client a longer timeout."""


class UnexpectedAnswer(MemoryHubError):
    """What answered does not speak like a hub; check the address and the hub's version."""


class Malformed(MemoryHubError):
    """The hub could not read the request; a cursor may belong to another query: start again without it."""


class Unauthenticated(MemoryHubError):
    """The key is missing, revoked or expired; use a live one."""


class Denied(MemoryHubError):
    """The key lacks a scope; use one that has what `missing_scopes` names."""

    @property
    def missing_scopes(self) -> list[str]:
        """The scopes that would do."""
        named = self.problem.more.get("missing_scopes")
        return list(named) if isinstance(named, list) else []


class NotFound(MemoryHubError):
    """There is no such thing in this vault; check the id."""


class Conflict(MemoryHubError):
    """It does not fit the present state; read it again and decide anew."""


class StaleVersion(MemoryHubError):
    """It was changed in the meantime; read the current version, merge, and send it with that version."""

    @property
    def current_version(self) -> int | None:
        """The version that is there now."""
        version: int | None = self.problem.more.get("current_version")
        return version


class TooLarge(MemoryHubError):
    """It is larger than the hub accepts; send it in smaller parts."""


class Unsupported(MemoryHubError):
    """This hub does not know that media type or method; check its version."""


class Invalid(MemoryHubError):
    """Some fields are not acceptable; correct what `errors` names and send it again."""


class RateLimited(MemoryHubError):
    """The key has used up its requests for this minute; wait `retry_after` seconds."""


class Unavailable(MemoryHubError):
    """The hub, or something it depends on, is away; nothing was changed, try again shortly."""


class HubFailed(MemoryHubError):
    """The hub made a mistake; its log has the details under the request id."""


OF_STATUS: Mapping[int, type[MemoryHubError]] = {
    400: Malformed,
    401: Unauthenticated,
    403: Denied,
    404: NotFound,
    405: Unsupported,
    409: Conflict,
    412: StaleVersion,
    413: TooLarge,
    415: Unsupported,
    422: Invalid,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}
_KNOWN = frozenset({"type", "title", "status", "detail", "instance", "code", "request_id", "errors"})


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> MemoryHubError:
    """The error a response stands for; what is no problem document is still told by its status."""
    kind = OF_STATUS.get(status, HubFailed if status >= 500 else UnexpectedAnswer)
    said = _parsed(body)
    errors, request_id = said.get("errors"), said.get("request_id") or headers.get("X-Request-Id")
    fallback = f"The hub answered {status}." if status >= 400 else _elsewhere(status, headers.get("Location", ""))
    problem = Problem(
        status,
        str(said.get("code", "http_error")),
        str(said.get("detail", fallback)),
        None if request_id is None else str(request_id),
        [FieldMistake(**_texts(each)) for each in errors if isinstance(each, dict)] if isinstance(errors, list) else [],
        seconds_of(headers.get("Retry-After")),
        {name: value for name, value in said.items() if name not in _KNOWN},
    )
    return kind(problem)


def _elsewhere(status: int, location: str) -> str:
    """What to do about a redirect: following it would carry the key to another place."""
    to = urlsplit(location)
    if to.scheme in ("http", "https") and to.hostname:
        there = f"{to.scheme}://{to.netloc.rpartition('@')[2]}"
        return f"{status}: the address leads on to {there}, where the key is not sent; give that one if it is the hub."
    return f"{status}: this is not where the hub answers."


def seconds_of(retry_after: str | None) -> float | None:
    """Retry-After as seconds from now: a number, or a date as HTTP writes it; None when it is neither."""
    if not retry_after:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        moment = parsedate_to_datetime(retry_after)
        return max(0.0, moment.replace(tzinfo=moment.tzinfo or dt.UTC).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _parsed(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _texts(said: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(said.get(name, "")) for name in ("pointer", "code", "detail")}
