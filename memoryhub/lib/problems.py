"""Errors as problem details (RFC 9457). The one place that knows which kind of failure is which HTTP status.

A problem is a dict: ``type``, ``title``, ``status``, ``detail``, ``instance``, ``code``, ``request_id``, ``errors``
(each ``{pointer, code, detail}``), plus whatever the error adds, such as ``current`` for a stale version.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, ClassVar

from memoryhub.lib.errors import FieldError, HubError, Kind

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS_SHOWN = 50

STATUS_OF = {
    Kind.MALFORMED: HTTPStatus.BAD_REQUEST,
    Kind.INVALID: HTTPStatus.UNPROCESSABLE_ENTITY,
    Kind.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    Kind.DENIED: HTTPStatus.FORBIDDEN,
    Kind.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Kind.CONFLICT: HTTPStatus.CONFLICT,
    Kind.GONE: HTTPStatus.GONE,
    Kind.PRECONDITION: HTTPStatus.PRECONDITION_FAILED,
    Kind.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Kind.UNSUPPORTED: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    Kind.RATE_LIMITED: HTTPStatus.TOO_MANY_REQUESTS,
    Kind.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    Kind.INTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
}
# What a status without an error of ours means: Django and ninja answer these by themselves.
_BARE = {
    400: (
        "bad_request",
        "The request could not be understood. If it named the hub by a host name of yours, an operator allows that"
        " with MEMORYHUB_ALLOWED_HOSTS.",
    ),
    403: ("denied", "This is not allowed."),
    404: ("not_found", "There is nothing at this address; see /api/docs for the paths there are."),
    405: ("method_not_allowed", "This address does not know that method; the Allow header lists those it knows."),
    413: ("too_large", "The request is larger than the hub accepts."),
}
_INTERNAL_DETAIL = "Something went wrong; the hub's log has the details under this request id."


class TooLarge(HubError):
    """The body is larger than 5 MiB; send it in smaller parts."""

    code: ClassVar[str] = "too_large"
    kind: ClassVar[Kind] = Kind.TOO_LARGE


class UnsupportedMediaType(HubError):
    """The body must be JSON in UTF-8; send `Content-Type: application/json`."""

    code: ClassVar[str] = "unsupported_media_type"
    kind: ClassVar[Kind] = Kind.UNSUPPORTED


def status_of(error: HubError) -> int:
    """The HTTP status of ``error``."""
    return int(STATUS_OF[error.kind])


def problem(error: HubError, *, instance: str, request_id: str) -> dict[str, Any]:
    """``error`` as a problem; what an internal error says stays in the log."""
    detail = _INTERNAL_DETAIL if error.kind is Kind.INTERNAL else error.message
    body = _problem(status_of(error), error.code, detail, instance=instance, request_id=request_id)
    body["errors"] = [_as_dict(item) for item in error.errors[:MOST_ERRORS_SHOWN]]
    for name, value in error.extra.items():
        body.setdefault(name, value)
    return body


def problem_of_status(status: int, *, instance: str, request_id: str) -> dict[str, Any]:
    """A problem for a status nobody raised an error of ours for (405, 404 of an unknown path, 500)."""
    code, detail = _BARE.get(status, ("internal", _INTERNAL_DETAIL) if status >= 500 else _BARE[400])
    return _problem(status, code, detail, instance=instance, request_id=request_id)


def _problem(status: int, code: str, detail: str, *, instance: str, request_id: str) -> dict[str, Any]:
    return {
        "type": f"urn:memoryhub:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "instance": instance,
        "code": code,
        "request_id": request_id,
        "errors": [],
    }


def _as_dict(item: FieldError) -> dict[str, str]:
    return {"pointer": item.pointer, "code": item.code, "detail": item.detail}
