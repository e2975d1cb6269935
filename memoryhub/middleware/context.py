"""The outermost layer: a request id, a fresh crypto gate, answers for faults, one measurement."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING
from uuid import uuid4

import structlog
from structlog.contextvars import bind_contextvars, clear_contextvars

from memoryhub.lib.answers import bare_problem_answer
from memoryhub.lib.metrics import HTTP_REQUESTS, HTTP_SECONDS
from memoryhub.lib.problems import MEDIA_TYPE
from memoryhub.lib.sealing import gate
from memoryhub.middleware.faults import answer_fault, speaks_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

log = structlog.get_logger(__name__)

_NONE: dict[str, str] = {}
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{8,64}")


class RequestContextMiddleware:
    """Put it first: everything below runs inside its gate session and answers under its request id."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        request_id = _request_id(request)
        request.request_id = request_id  # type: ignore[attr-defined]
        clear_contextvars()
        bind_contextvars(request_id=request_id)
        with gate.session():
            response = self.get_response(request)
        if response.status_code >= 400 and speaks_json(request):
            response = _as_problem(request, response)
        for name, value in getattr(request, "answer_headers", _NONE).items():
            response.headers[name] = value
        response.headers["X-Request-Id"] = request_id
        if speaks_json(request):
            response.headers.setdefault("Cache-Control", "no-store")
        _measure(request, response, time.perf_counter() - started)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Faults of views; those of other middleware reach ``handler500``."""
        return answer_fault(request, exception)


def _request_id(request: HttpRequest) -> str:
    offered = request.META.get("HTTP_X_REQUEST_ID", "")
    return offered if _SANE_REQUEST_ID.fullmatch(offered) else uuid4().hex


def _as_problem(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Django's and ninja's own bare answers (404 of an unknown path, 405) as problems with the same headers."""
    if response.headers.get("Content-Type", "").startswith(MEDIA_TYPE) or hasattr(response, "is_told"):
        return response
    told = bare_problem_answer(request, response.status_code)
    for name, value in response.headers.items():
        if name not in ("Content-Type", "Content-Length"):
            told.headers[name] = value
    return told


def _measure(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    match = request.resolver_match
    route = match.route if match else "(none)"
    method = request.method if request.method in _METHODS else "(other)"
    HTTP_REQUESTS.labels(method, route, str(response.status_code)).inc()
    HTTP_SECONDS.labels(method, route).observe(seconds)
    log.debug("request", method=method, route=route, status=response.status_code, ms=round(seconds * 1000, 2))
