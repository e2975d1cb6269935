"""Days, months and years as people write them, and the span of time they mean. Everything is UTC."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

_DAY = dt.timedelta(days=1)
_DAYS_IN = {"d": 1, "w": 7, "m": 30, "y": 365}
_AGO_MAX_DAYS = 36_500
_AGO = re.compile(r"([0-9]{1,5})([dwmy])", re.IGNORECASE)
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?",
    re.IGNORECASE,
)
_NAMED = {"today": 0, "yesterday": 1}


@dataclass(frozen=True, slots=True)
class Span:
    """From ``since`` up to, not including, ``before``; None is open."""

    since: dt.datetime | None
    before: dt.datetime | None


def is_period(text: str) -> bool:
    """Whether it is a moment, day, month, year, ``today``, ``yesterday`` or an age such as ``7d``."""
    return _bounds(text, dt.datetime(2026, 1, 1, tzinfo=dt.UTC)) is not None


def span_of(operator: str, value: str, at: dt.datetime) -> Span:
    """What ``created:<operator><value>`` means at the moment ``at``. ``value`` must be one ``is_period`` accepts.

    ``7d`` is the last seven days, today among them; in comparisons it is the first of these days, so that
    ``<30d`` is older than thirty days. A range includes both its ends, whichever comes first.
    """
    if operator == "..":
        left, _, right = value.partition("..")
        return _range(left, right, at)
    first, last = _period(value, at)
    match operator:
        case ">":
            return Span(last, None)
        case ">=":
            return Span(first, None)
        case "<":
            return Span(None, first)
        case "<=":
            return Span(None, last)
        case _:
            return Span(first, _midnight(at) + _DAY if _AGO.fullmatch(value) else last)


def _range(left: str, right: str, at: dt.datetime) -> Span:
    starts, ends = (_period(left, at) if left else None), (_period(right, at) if right else None)
    if starts and ends:
        return Span(min(starts[0], ends[0]), max(starts[1], ends[1]))
    return Span(starts[0] if starts else None, ends[1] if ends else None)


def _period(text: str, at: dt.datetime) -> tuple[dt.datetime, dt.datetime]:
    bounds = _bounds(text, at)
    if bounds is None:
        raise ValueError("no period; check it with is_period first")
    return bounds


def _bounds(text: str, at: dt.datetime) -> tuple[dt.datetime, dt.datetime] | None:
    """First moment, and the first one after it."""
    if text.lower() in _NAMED:
        start = _midnight(at) - _NAMED[text.lower()] * _DAY
        return start, start + _DAY
    if ago := _AGO.fullmatch(text):
        days = int(ago[1]) * _DAYS_IN[ago[2].lower()]
        if not 1 <= days <= _AGO_MAX_DAYS:
            return None
        start = _midnight(at) - (days - 1) * _DAY
        return start, start + _DAY
    try:
        if date := _DATE.fullmatch(text):
            return _calendar(*(int(part) if part else None for part in date.groups()))
        if moment := _MOMENT.fullmatch(text):
            start = dt.datetime.fromisoformat(text)
            start = start if start.tzinfo else start.replace(tzinfo=dt.UTC)
            return start, start + (dt.timedelta(seconds=1) if moment[1] else dt.timedelta(minutes=1))
    except (ValueError, OverflowError):
        return None
    return None


def _calendar(year: int | None, month: int | None, day: int | None) -> tuple[dt.datetime, dt.datetime]:
    start = dt.datetime(year or 0, month or 1, day or 1, tzinfo=dt.UTC)
    if day is not None:
        return start, start + _DAY
    if month is not None:
        return start, start.replace(year=start.year + month // 12, month=month % 12 + 1)
    return start, start.replace(year=start.year + 1)


def _midnight(at: dt.datetime) -> dt.datetime:
    return at.astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
