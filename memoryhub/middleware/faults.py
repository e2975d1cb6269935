"""What went wrong, told to whoever asked: problem+json to programs, a small page everywhere else.

The page is written here, without template or database, because it has to work when the database is away.
"""

from __future__ import annotations

import sys
from html import escape
from http import HTTPStatus

import structlog
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db import DataError, IntegrityError, InterfaceError, OperationalError, connections
from django.http import Http404, HttpRequest, HttpResponse

from memoryhub.lib.answers import bare_problem_answer, headers_of, problem_answer, request_id_of
from memoryhub.lib.constraints import violated
from memoryhub.lib.errors import HubError, Invalid, Malformed, NotFound, Unavailable
from memoryhub.lib.metrics import DATABASE_AWAY
from memoryhub.lib.problems import TooLarge, problem, status_of
from memoryhub.lib.sealing import SEALED_UNDER_KNOWN_KEY

log = structlog.get_logger(__name__)

# SQLSTATE classes under OperationalError that are about the query, not about the server being away.
_NOT_AWAY = ("40", "54", "55")

# Titles for people; a program reads the phrase of the status in its problem.
_IN_WORDS = {
    400: "Not understood",
    403: "Not allowed",
    404: "Not here",
    409: "Changed meanwhile",
    413: "Too large",
    422: "That cannot be done",
    429: "Too much at once",
    500: "Something went wrong",
}


class DatabaseAway(Unavailable):
    """The database cannot be reached at the moment; nothing was changed, try again in a moment."""

    code = "database_away"


class DatabaseBusy(Unavailable):
    """Others were changing the same thing; nothing was changed, try again in a moment."""

    code = "database_busy"


def speaks_json(request: HttpRequest) -> bool:
    """Whether the caller of this path is a program that reads problem+json."""
    return request.path.startswith(("/api/", "/mcp", "/compat/")) and not request.path.startswith("/api/docs")


def as_hub_error(exception: BaseException) -> HubError | None:
    """The error of ours behind ``exception``; None when it is a mistake of ours (a 500)."""
    match exception:
        case HubError():
            return exception
        case OperationalError() | InterfaceError():
            return _database_error(exception)
        case IntegrityError() if violated(exception) == SEALED_UNDER_KNOWN_KEY:
            # The request began before the vault's data key was replaced and was not done when the old one was retired.
            return DatabaseBusy()
        case DataError():
            return Invalid("A value does not fit the database: too large, too long or not storable as text.")
        case RequestDataTooBig():
            return TooLarge()
        case SuspiciousOperation():
            return Malformed("The request was refused because it looks malformed.")
        case Http404():
            return NotFound()
        case _:
            return None


def answer_fault(request: HttpRequest, exception: BaseException) -> HttpResponse | None:
    """The response for ``exception``, or None when Django should treat it as a 500."""
    error = as_hub_error(exception)
    if error is None:
        return None
    if isinstance(error, Unavailable):
        forget_broken_connections()
    if status_of(error) >= 500:
        log.warning("request.fault", code=error.code, path=request.path, cause=type(exception).__name__)
    return problem_answer(request, error) if speaks_json(request) else page_answer(request, error)


def page_answer(request: HttpRequest, error: HubError) -> HttpResponse:
    """``error`` as a page that needs nothing but itself."""
    body = problem(error, instance=request.path, request_id=request_id_of(request))
    return _page(request, body["status"], body["detail"], headers_of(error))


def server_error(request: HttpRequest) -> HttpResponse:
    """``handler500``: also the place where faults raised inside other middleware arrive."""
    exception = sys.exception()
    answer = answer_fault(request, exception) if exception is not None else None
    if answer is not None:
        return answer
    if speaks_json(request):
        return bare_problem_answer(request, 500)
    detail = "Something went wrong on our side; the log has the details under this request id."
    return _page(request, 500, detail, {})


def _database_error(exception: OperationalError | InterfaceError) -> HubError:
    state = getattr(exception.__cause__, "sqlstate", None) or ""
    if state.startswith(_NOT_AWAY):
        return DatabaseBusy()
    DATABASE_AWAY.inc()
    return DatabaseAway()


def forget_broken_connections() -> None:
    """Drop connections that stopped working, so that the next request gets a live one."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()


def _page(request: HttpRequest, status: int, detail: str, headers: dict[str, str]) -> HttpResponse:
    # Written here and not as a template: it must still appear when the database, and with it the session, is away.
    title = escape(_IN_WORDS.get(status) or HTTPStatus(status).phrase)
    theme = request.COOKIES.get("theme")
    chosen = f' data-theme="{theme}"' if theme in {"light", "dark"} else ""
    ways = '<a class="btn primary" href="/">Back to the overview</a>'
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR and request.method == "GET":
        here = escape(f"/{request.get_full_path().lstrip('/')}")
        ways = f'<a class="btn primary" href="{here}">Try again</a><a class="btn" href="/">Back to the overview</a>'
    html = f"""<!doctype html>
<html lang="en"{chosen}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title} · MemoryHub</title>
<link rel="icon" href="/static/favicon.svg"><link rel="stylesheet" href="/static/css/hub.css"></head>
<body><main class="solo" id="main">
<a class="brand" href="/"><img src="/static/favicon.svg" alt="" width="32" height="32">MemoryHub</a>
<div class="card"><p class="code-big num">{status}</p><h1>{title}</h1><p>{escape(detail)}</p>
{ways}</div>
<p class="foot">Request <code>{escape(request_id_of(request))}</code></p></main></body></html>"""
    return HttpResponse(html, status=status, headers=headers)
