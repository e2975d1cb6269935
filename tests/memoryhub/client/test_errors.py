"""Errors from what was answered, whatever it is."""

from __future__ import annotations

import datetime as dt
import json
from email.utils import format_datetime
from typing import Any

import pytest

from memoryhub.client import Denied, HubFailed, Invalid, MemoryHubError, StaleVersion, UnexpectedAnswer
from memoryhub.client.errors import OF_STATUS, error_of, seconds_of


def test_a_problem_is_told_whole():
    """code, detail, errors, request id, what this error adds, and what to do next."""
    body = {
        "status": 422,
        "code": "unknown_bank",
        "detail": "There is no bank “Garage”.",
        "request_id": "r-1",
        "errors": [{"pointer": "/bank", "code": "unknown_bank", "detail": "must be one of: General"}],
        "hint": "x",
    }
    error = error_of(422, {"Retry-After": "3"}, json.dumps(body).encode())
    assert isinstance(error, Invalid)
    assert (error.status, error.code, error.request_id, error.retry_after) == (422, "unknown_bank", "r-1", 3)
    assert error.errors[0].detail == "must be one of: General"
    assert error.problem.more == {"hint": "x"}
    assert str(error) == ("There is no bank “Garage”. (unknown_bank, request r-1)\n  /bank: must be one of: General")


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"null", b"[]", b"{}", b"[" * 20_000, b"\xff", b'{"errors": 5, "detail": null, "request_id": 7}'],
)
@pytest.mark.parametrize("status", [*OF_STATUS, 418, 302, 500, 599])
def test_anything_is_an_error_of_its_status(status: int, body: bytes):
    """Proxies answer with pages; what they say is not trusted to be a problem document."""
    error = error_of(status, {"X-Request-Id": "r-2"}, body)
    expected = OF_STATUS.get(status, HubFailed if status >= 500 else UnexpectedAnswer)
    assert type(error) is expected and str(error) and error.advice
    assert error.errors == [] and error.request_id in {"r-2", "7"}


def test_what_some_errors_add():
    missing: Any = error_of(403, {}, b'{"missing_scopes": ["memories:write"]}')
    assert isinstance(missing, Denied) and missing.missing_scopes == ["memories:write"]
    assert isinstance(error := error_of(403, {}, b'{"missing_scopes": 1}'), Denied) and error.missing_scopes == []
    stale = error_of(412, {}, b'{"current_version": 7}')
    assert isinstance(stale, StaleVersion) and stale.current_version == 7


def test_retry_after_is_a_number_or_a_date():
    """As HTTP allows; anything else says nothing."""
    assert seconds_of("7") == 7
    soon = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=30)
    assert 25 < (seconds_of(format_datetime(soon, usegmt=True)) or 0) <= 30
    assert seconds_of("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert seconds_of(None) is seconds_of("soon") is seconds_of("-3") is None


def test_every_class_says_what_to_do_next():
    """The docstring is the advice."""
    for kind in {MemoryHubError, *OF_STATUS.values()}:
        assert ";" in (kind.__doc__ or ""), kind
