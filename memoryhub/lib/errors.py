"""Errors, named by what the caller should do next.

A class carries a stable ``code``, a ``kind`` that the doors translate (HTTP, MCP, HTML) and a sentence; the docstring
is the default sentence. Not for programming mistakes: those raise ordinary exceptions and become a 500.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar


class Kind(StrEnum):
    """What sort of failure it is; ``memoryhub.lib.problems`` maps each kind to a status once."""

    MALFORMED = "malformed"
    INVALID = "invalid"
    UNAUTHENTICATED = "unauthenticated"
    DENIED = "denied"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    GONE = "gone"
    PRECONDITION = "precondition"
    TOO_LARGE = "too_large"
    UNSUPPORTED = "unsupported"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class FieldError:
    """One mistake in one place of the input; ``pointer`` is a JSON pointer such as ``/items/3/content``."""

    pointer: str
    code: str
    detail: str


class HubError(Exception):
    """Something went wrong; the hub's log has the details under this request id."""

    code: ClassVar[str] = "internal"
    kind: ClassVar[Kind] = Kind.INTERNAL

    def __init__(
        self,
        message: str | None = None,
        *,
        errors: Sequence[FieldError] = (),
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.message = message or " ".join((self.__doc__ or self.code).split())
        self.errors = tuple(errors)
        self.extra = dict(extra or {})
        super().__init__(self.message)


class Malformed(HubError):
    """The request could not be read; send well-formed JSON."""

    code = "malformed"
    kind = Kind.MALFORMED


class Invalid(HubError):
    """Some fields are not acceptable; correct what `errors` names and send it again."""

    code = "invalid"
    kind = Kind.INVALID


class Unauthenticated(HubError):
    """The API key is missing or not valid; send `Authorization: Bearer <key>` with a live key."""

    code = "unauthenticated"
    kind = Kind.UNAUTHENTICATED


class Denied(HubError):
    """This key or user may not do that; ask the vault's owner for the scope named in the answer."""

    code = "denied"
    kind = Kind.DENIED


class NotFound(HubError):
    """There is no such thing in this vault; check the id."""

    code = "not_found"
    kind = Kind.NOT_FOUND


class Conflict(HubError):
    """The request does not fit the present state; read it again and decide anew."""

    code = "conflict"
    kind = Kind.CONFLICT


class StaleVersion(HubError):
    """It was changed in the meantime; read the current version, merge and send it with that version."""

    code = "stale_version"
    kind = Kind.PRECONDITION


class Unavailable(HubError):
    """A part the hub depends on is away; nothing was changed, try again shortly."""

    code = "unavailable"
    kind = Kind.UNAVAILABLE
