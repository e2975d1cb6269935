"""Every answer has a request id; faults become problems under /api and pages elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.test import RequestFactory

from memoryhub.lib.errors import HubError, Invalid, NotFound
from memoryhub.middleware import RequestContextMiddleware
from memoryhub.middleware.faults import DatabaseAway, answer_fault, page_answer, server_error

factory = RequestFactory()
pytestmark = pytest.mark.django_db  # a fault makes the door look at its connections


def answered(path: str, view: Callable[[HttpRequest], HttpResponse], **headers: Any) -> HttpResponse:
    return RequestContextMiddleware(view)(factory.get(path, **headers))


def ok(request: HttpRequest) -> HttpResponse:
    return HttpResponse(request.request_id)  # type: ignore[attr-defined]


def test_a_request_id_is_made_or_taken_over():
    made = answered("/x", ok)
    assert len(made.headers["X-Request-Id"]) == 32
    assert made.content.decode() == made.headers["X-Request-Id"]
    assert answered("/x", ok, HTTP_X_REQUEST_ID="trace-1234").headers["X-Request-Id"] == "trace-1234"


@pytest.mark.parametrize("offered", ["short", "x" * 65, "evil\r\nheader: 1", "<script>alert</script>", "ünïcode-id"])
def test_a_strange_request_id_is_replaced(offered: str):
    assert answered("/x", ok, HTTP_X_REQUEST_ID=offered).headers["X-Request-Id"] != offered


def test_bare_refusals_under_api_become_problems_and_keep_their_headers():
    answer = answered("/api/v1/x", lambda _: HttpResponseNotAllowed(["GET"]))
    told = json.loads(answer.content)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["Allow"] == "GET"
    assert told["code"] == "method_not_allowed"
    assert told["request_id"] == answer.headers["X-Request-Id"]
    assert answered("/x", lambda _: HttpResponseNotAllowed(["GET"])).headers["Content-Type"].startswith("text/html")


def away(sqlstate: str | None = None) -> OperationalError:
    error = OperationalError("connection refused to host db.internal")
    cause = psycopg.OperationalError("cause")
    cause.sqlstate = sqlstate
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (NotFound(), 404, "not_found"),
        (Http404(), 404, "not_found"),
        (away(), 503, "database_away"),
        (away("57P01"), 503, "database_away"),
        (away("40P01"), 503, "database_busy"),
        (InterfaceError("connection already closed"), 503, "database_away"),
        (DataError("value too long"), 422, "invalid"),
        (RequestDataTooBig(), 413, "too_large"),
        (TooManyFieldsSent(), 400, "malformed"),
        (HubError("inner"), 500, "internal"),
    ],
)
def test_faults_by_kind(fault: Exception, status: int, code: str):
    """DEG-14: a database that is away is a 503 with Retry-After, never a 500 and never a leak."""
    answer = answer_fault(factory.get("/api/v1/memories"), fault)
    assert answer is not None
    told = json.loads(answer.content)
    assert (answer.status_code, told["code"]) == (status, code)
    assert ("Retry-After" in answer.headers) is (status == 503)
    assert "db.internal" not in answer.content.decode()


def test_a_mistake_of_ours_is_left_to_django():
    assert answer_fault(factory.get("/api/v1/x"), ZeroDivisionError()) is None


def test_the_page_for_a_database_that_is_away_needs_no_database():
    answer = answer_fault(factory.get("/memories/"), away())
    assert answer is not None
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert b"<h1>Service Unavailable</h1>" in answer.content


def test_a_page_of_a_fault_says_what_to_do_next_in_the_chosen_colours():
    """Only where trying again may help is it offered; what the address holds stays text."""
    asked = factory.get('/memories/?q="><b>', headers={"cookie": "theme=dark"})
    html = page_answer(asked, DatabaseAway()).content.decode()
    assert '<html lang="en" data-theme="dark">' in html
    assert '<a class="btn primary" href="/memories/?q=%22%3E%3Cb%3E">Try again</a>' in html
    refused = page_answer(factory.get("/x", headers={"cookie": 'theme="><b>'}), Invalid("No.")).content.decode()
    assert "<h1>That cannot be done</h1>" in refused
    assert "Try again" not in refused
    assert "<b>" not in refused
    assert "Try again" not in page_answer(factory.post("/x"), DatabaseAway()).content.decode()


def test_handler500_tells_faults_from_mistakes():
    """Faults raised by other middleware arrive here, inside Django's except block."""
    try:
        raise away()
    except OperationalError:
        assert server_error(factory.get("/api/v1/x")).status_code == 503
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        told = json.loads(server_error(factory.get("/api/v1/x")).content)
        assert (told["status"], told["code"]) == (500, "internal")
        assert server_error(factory.get("/x")).headers["Content-Type"].startswith("text/html")
