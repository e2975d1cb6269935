"""Responses the doors give: JSON written once, straight from plain data, and problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse
from pydantic_core import to_json

from memoryhub.lib import problems
from memoryhub.lib.errors import HubError, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

RETRY_AFTER_SECONDS = 2


def json_answer(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """``data`` (dicts, lists, UUIDs, dates, enums) as a JSON response."""
    return HttpResponse(to_json(data), status=status, content_type="application/json", headers=headers)


def request_id_of(request: HttpRequest) -> str:
    """The id RequestContextMiddleware gave this request; empty outside a request."""
    return getattr(request, "request_id", "")


def problem_answer(request: HttpRequest, error: HubError) -> HttpResponse:
    """``error`` as application/problem+json, with the headers its status asks for."""
    body = problems.problem(error, instance=request.path, request_id=request_id_of(request))
    return _problem_response(body, headers_of(error))


def bare_problem_answer(request: HttpRequest, status: int) -> HttpResponse:
    """A problem for a bare status."""
    return _problem_response(
        problems.problem_of_status(status, instance=request.path, request_id=request_id_of(request)), {}
    )


def headers_of(error: HubError) -> dict[str, str]:
    """WWW-Authenticate for 401, Retry-After for 429 and 503."""
    if error.kind is Kind.UNAUTHENTICATED:
        return {"WWW-Authenticate": 'Bearer realm="memoryhub"'}
    if error.kind in (Kind.UNAVAILABLE, Kind.RATE_LIMITED):
        return {"Retry-After": str(error.extra.get("retry_after", RETRY_AFTER_SECONDS))}
    return {}


def _problem_response(body: dict[str, Any], headers: dict[str, str]) -> HttpResponse:
    return HttpResponse(to_json(body), status=body["status"], content_type=problems.MEDIA_TYPE, headers=headers)
