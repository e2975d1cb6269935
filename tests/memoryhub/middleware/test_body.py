"""What is refused before anybody parses it."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from memoryhub.middleware import ApiBodyMiddleware
from memoryhub.middleware.body import MOST_BODY_BYTES, MOST_DRAINED_BYTES

factory = RequestFactory()


def passed(request: HttpRequest) -> HttpResponse:
    return HttpResponse(request.body)


door = ApiBodyMiddleware(passed)


def post(body: bytes, content_type: str = "application/json", **extra: Any) -> HttpResponse:
    return door(factory.generic("POST", "/api/v1/memories", body, content_type=content_type, **extra))


def test_json_passes():
    assert post(b'{"a": 1}').content == b'{"a": 1}'
    assert post(b"{}", "application/json; charset=UTF-8").status_code == 200


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-16",
        "application/json; charset=x",
    ],
)
def test_other_media_types_are_415(content_type: str):
    answer = post(b'{"a": 1}', content_type)
    assert answer.status_code == 415
    assert json.loads(answer.content)["code"] == "unsupported_media_type"


def test_a_body_over_five_mebibytes_is_read_away_and_refused():
    """The client gets to read the answer, so the body must not be left in the pipe."""
    request = factory.post("/api/v1/memories", b"x" * (MOST_BODY_BYTES + 1), content_type="application/json")
    answer = door(request)
    assert answer.status_code == 413
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert request.read() == b""


def test_no_more_than_sixteen_mebibytes_are_read_away():
    size = MOST_DRAINED_BYTES + 100_000
    request = factory.post("/api/v1/memories", b"x" * size, content_type="application/json")
    assert door(request).status_code == 413
    assert len(request.read()) == size - MOST_DRAINED_BYTES


@pytest.mark.parametrize("length", ["abc", "1e3", "-5"])
def test_a_length_that_is_no_length_never_fails(length: str):
    assert post(b"{}", CONTENT_LENGTH=length).status_code in {200, 400}


def chunked(body: bytes) -> HttpRequest:
    request = factory.generic("POST", "/api/v1/memories", b"", CONTENT_TYPE="application/json")
    request.META.update({"HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": "", "wsgi.input": io.BytesIO(body)})
    return request


def test_a_body_without_a_length_is_read_too():
    assert door(chunked(b'{"a": 1}')).content == b'{"a": 1}'
    assert door(chunked(b"x" * (MOST_BODY_BYTES + 1))).status_code == 413


def test_nul_in_the_address():
    assert door(factory.get("/api/v1/memories/%00")).status_code == 404
    assert door(factory.get("/memories/%00/")).status_code == 404
    assert door(factory.get("/api/v1/memories?q=a%00b")).status_code == 422
    assert door(factory.get("/memories/?q=%00")).headers["Content-Type"].startswith("text/html")
    assert door(factory.get("/api/v1/memories?q=100%25")).status_code == 200


def test_an_endless_query_is_refused():
    assert door(factory.get("/api/v1/memories?q=" + "x" * 20_000)).status_code == 422


def test_pages_may_send_forms():
    answer = door(factory.post("/memories/1/edit", {"content": "x"}))
    assert answer.status_code == 200
