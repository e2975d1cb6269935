"""Times in plain language, English so far: whether a text mentions one, whether a question asks for one, and which
days a question means. Pure; "today" is always given.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

#: What the keyword index keeps, keyed like a word, of a unit that mentions a time.
MENTIONS_TIME = "mentions-time"
#: People tell of a day within a week after it; so much of a match that is.
TOLD_LATER_DAYS = 7
TOLD_LATER = 0.5

_MONTHS = [name.casefold() for name in calendar.month_name[1:]]
_WEEKDAYS = [name.casefold() for name in calendar.day_name]
_MONTH = "|".join([*_MONTHS, "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sept?", "oct", "nov", "dec"])
_ORDINAL = r"(?:st|nd|rd|th)?"
_NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
_AMOUNT = rf"(?P<amount>\d{{1,3}}|an?|{'|'.join(_NUMBERS)}|(?:a )?couple(?: of)?|(?:a )?few)"

_DATE = re.compile(
    rf"\b(?:(?P<before>\d{{1,2}}){_ORDINAL}\s+(?:of\s+)?)?(?P<month>{_MONTH})\b\.?"
    rf"(?:\s+(?P<after>\d{{1,2}}){_ORDINAL}\b)?(?:,?\s*(?P<year>\d{{4}})\b)?"
    r"|\b(?P<iso_year>\d{4})-(?P<iso_month>\d\d)(?:-(?P<iso_day>\d\d))?\b"
    r"|\b(?P<eu_day>\d{1,2})\.(?P<eu_month>\d{1,2})\.(?P<eu_year>\d{4})\b"
    r"|\b(?P<only_year>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?:(?P<day>today|tonight|yesterday|tomorrow)"
    rf"|(?P<which>last|this|next|past)\s+(?P<span>week|month|year|weekend|{'|'.join(_WEEKDAYS)})"
    rf"|{_AMOUNT}\s+(?P<unit>day|week|month|year)s?\s+ago"
    rf"|on\s+(?P<weekday>{'|'.join(_WEEKDAYS)}))\b",
    re.IGNORECASE,
)
#: Months whose names are also other words count alone only after a word that makes them a time.
_AMBIGUOUS = {"may", "mar", "march", "jan", "sep", "dec"}
_LEADS = re.compile(r"\b(?:in|of|last|this|next|since|until|by|during|early|late|mid|before|after)\s+$", re.IGNORECASE)

_MENTIONS = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|recently|since|(?:19|20)\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
    r"|(?:last|next|this|past|coming)\s+(?:week|month|year|night|weekend|summer|winter|spring|fall|autumn)s?"
    rf"|(?:{'|'.join(_WEEKDAYS)})s?|(?:{'|'.join(month for month in _MONTHS if month != 'may')})"
    r"|(?:last|next|this|in|since)\s+may|(?:days?|weeks?|months?|years?|hours?)\s+ago"
    r"|\d+\s+(?:days?|weeks?|months?|years?))\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\bwhen\b|\b(?:what|which)\s+(?:date|day|month|year|time)\b|\bhow\s+(?:long|often)\b"
    r"|\bhow\s+many\s+(?:days|weeks|months|years)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Days:
    """A stretch of days, both ends included; with ``yearly`` the same days of any year."""

    first: dt.date
    last: dt.date
    yearly: bool = False

    def share(self, day: dt.date) -> float:
        """1 for a day within, 0.5 up to a week later, else 0."""
        if self.yearly:
            day = _in_year(day, self.first.year)
        if self.first <= day <= self.last:
            return 1.0
        return TOLD_LATER if 0 < (day - self.last).days <= TOLD_LATER_DAYS else 0.0


def mentions_time(text: str) -> bool:
    """Whether a text says when something was, is or will be."""
    return _MENTIONS.search(text) is not None


def asks_when(question: str) -> bool:
    """Whether a question wants a time for an answer."""
    return _ASKS.search(question) is not None


def days_meant(question: str, today: dt.date) -> list[Days]:
    """The stretches of days a question names, in dates or seen from ``today``; empty when it names none."""
    return [*_dates(question), *_relative(question, today)]


def date_share(meant: Sequence[Days], day: dt.date) -> float:
    """How well a day fits the days meant: the best of them."""
    return max((days.share(day) for days in meant), default=0.0)


def _dates(question: str) -> Iterator[Days]:
    for match in _DATE.finditer(question):
        found = match.groupdict()
        day = found["before"] or found["after"] or found["iso_day"] or found["eu_day"]
        year = found["year"] or found["iso_year"] or found["eu_year"] or found["only_year"]
        month = _month_of(found["month"]) or int(found["iso_month"] or found["eu_month"] or 0) or None
        alone = found["month"] and not (day or year) and found["month"].casefold() in _AMBIGUOUS
        if alone and not _LEADS.search(question[: match.start()]):
            continue
        try:
            yield _stretch(int(year) if year else None, month, int(day) if day else None)
        except ValueError:
            continue  # 31 February is no day


def _month_of(name: str | None) -> int | None:
    if name is None:
        return None
    return next(number for number, month in enumerate(_MONTHS, 1) if month[:3] == name[:3].casefold())


def _stretch(year: int | None, month: int | None, day: int | None) -> Days:
    some = year or 2000  # a leap year, so that 29 February is a day
    if month is None:
        return Days(dt.date(some, 1, 1), dt.date(some, 12, 31))
    if day is None:
        return Days(dt.date(some, month, 1), dt.date(some, month, calendar.monthrange(some, month)[1]), year is None)
    return Days(dt.date(some, month, day), dt.date(some, month, day), year is None)


def _in_year(day: dt.date, year: int) -> dt.date:
    try:
        return day.replace(year=year)
    except ValueError:
        return dt.date(year, 3, 1)


def _relative(question: str, today: dt.date) -> Iterator[Days]:
    for match in _RELATIVE.finditer(question):
        found = {name: (value or "").casefold() for name, value in match.groupdict().items()}
        if found["day"]:
            day = today + dt.timedelta(days={"yesterday": -1, "tomorrow": 1}.get(found["day"], 0))
            yield Days(day, day)
        elif found["weekday"]:
            yield _weekday(found["weekday"], "last", today)
        elif found["unit"]:
            yield _ago(found["amount"], found["unit"], today)
        elif found["span"] in _WEEKDAYS:
            yield _weekday(found["span"], found["which"], today)
        else:
            yield _span(found["which"], found["span"], today)


def _weekday(name: str, which: str, today: dt.date) -> Days:
    ahead = (_WEEKDAYS.index(name) - today.weekday()) % 7
    day = today + dt.timedelta(days=(ahead or 7) if which == "next" else ahead - 7 if which != "this" else ahead)
    return Days(day, day)


def _ago(amount: str, unit: str, today: dt.date) -> Days:
    """Loosely: half a unit to both sides, as people count."""
    count = int(amount) if amount.isdigit() else 1 + _NUMBERS.index(amount) if amount in _NUMBERS else 1
    if "couple" in amount or "few" in amount:
        count = 2 if "couple" in amount else 3
    length = {"day": 1, "week": 7, "month": 30, "year": 365}[unit]
    middle, slack = today - dt.timedelta(days=count * length), dt.timedelta(days=length // 2)
    return Days(middle - slack, middle + slack)


def _span(which: str, span: str, today: dt.date) -> Days:
    step = {"last": -1, "past": -1, "this": 0, "next": 1}[which]
    if span == "year":
        return _stretch(today.year + step, None, None)
    if span == "month":
        months = today.year * 12 + today.month - 1 + step
        return _stretch(months // 12, months % 12 + 1, None)
    monday = today + dt.timedelta(days=7 * step - today.weekday())
    first = monday + dt.timedelta(days=5 if span == "weekend" else 0)
    return Days(first, monday + dt.timedelta(days=6))
