"""Moments in what comes in from outside: ISO 8601, aware, in UTC, within the years that can be stored and shown."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BeforeValidator
from pydantic_core import PydanticCustomError

# A day inside the years 1 to 9999, so that showing one in any time zone does not leave them.
EARLIEST = dt.datetime(1, 1, 2, tzinfo=dt.UTC)
LATEST = dt.datetime(9999, 12, 30, tzinfo=dt.UTC)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _iso_only(value: Any) -> Any:
    # Numbers, also as text, would be read as Unix time, in seconds or milliseconds depending on their size.
    if not isinstance(value, str | dt.datetime) or (isinstance(value, str) and _is_number(value)):
        raise PydanticCustomError("datetime_type", "must be an ISO 8601 date and time such as 2026-11-21T10:00:00Z")
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _with_zone(value: Any) -> Any:
    """ISO text without a zone is UTC, so that dates copied from logs are accepted."""
    if isinstance(value, str):
        try:
            parsed = dt.datetime.fromisoformat(value.strip())
        except ValueError:
            return value
        return parsed if parsed.tzinfo else parsed.replace(tzinfo=dt.UTC)
    return value


def _in_range(value: dt.datetime) -> dt.datetime:
    if not EARLIEST <= value <= LATEST:
        raise PydanticCustomError("datetime_range", "must lie between 0001-01-02 and 9999-12-30")
    return value.astimezone(dt.UTC)


#: An aware moment in UTC, from ISO 8601 text or a datetime.
Moment = Annotated[AwareDatetime, BeforeValidator(_with_zone), BeforeValidator(_iso_only), AfterValidator(_in_range)]


def _iso_day(value: Any) -> Any:
    if isinstance(value, str) and not _DAY.fullmatch(value):
        raise PydanticCustomError("date_type", "must be an ISO 8601 date such as 2026-11-21")
    return value


#: A day, as ``2026-11-21`` and in no other form.
Day = Annotated[dt.date, BeforeValidator(_iso_day)]
