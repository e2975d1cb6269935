"""Days, months, years and ages as spans of time."""

from __future__ import annotations

import datetime as dt

import pytest

from memories.rules.periods import is_period, span_of

AT = dt.datetime(2026, 11, 21, 15, 30, tzinfo=dt.UTC)


def moment(text: str) -> dt.datetime | None:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC) if text else None


@pytest.mark.parametrize(
    ("operator", "value", "since", "before"),
    [
        ("=", "2026", "2026-01-01", "2027-01-01"),
        ("=", "2026-12", "2026-12-01", "2027-01-01"),
        ("=", "2026-02", "2026-02-01", "2026-03-01"),
        ("=", "2026-10-01", "2026-10-01", "2026-10-02"),
        ("=", "2026-10-01T10:30", "2026-10-01T10:30", "2026-10-01T10:31"),
        ("=", "2026-10-01T10:30:05+02:00", "2026-10-01T08:30:05", "2026-10-01T08:30:06"),
        ("=", "today", "2026-11-21", "2026-11-22"),
        ("=", "Yesterday", "2026-11-20", "2026-11-21"),
        ("=", "7d", "2026-11-15", "2026-11-22"),
        ("=", "2w", "2026-11-08", "2026-11-22"),
        (">", "2026-10-01", "2026-10-02", ""),
        (">=", "2026-10-01", "2026-10-01", ""),
        ("<", "2026-10", "", "2026-10-01"),
        ("<=", "2026-10", "", "2026-11-01"),
        ("<", "30d", "", "2026-10-23"),
        (">=", "7d", "2026-11-15", ""),
        ("..", "2026-10-01..2026-10-31", "2026-10-01", "2026-11-01"),
        ("..", "2026-10-31..2026-10-01", "2026-10-01", "2026-11-01"),
        ("..", "2026-10..", "2026-10-01", ""),
        ("..", "..yesterday", "", "2026-11-21"),
    ],
)
def test_what_a_date_means(operator: str, value: str, since: str, before: str):
    span = span_of(operator, value, AT)
    assert (span.since, span.before) == (moment(since), moment(before))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026-13",
        "2026-02-30",
        "0000",
        "9999-12-31",
        "20261",
        "26-10-01",
        "0d",
        "99999y",
        "٢٠٢٦",
        "7D..",
        "T",
    ],
)
def test_what_is_no_date(text: str):
    assert not is_period(text)
