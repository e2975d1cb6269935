"""Moments: ISO 8601 only, UTC, within the years that can be stored."""

from __future__ import annotations

import datetime as dt

import pytest

from memories.rules import drafts
from memoryhub.lib.errors import Invalid
from memoryhub.lib.moments import Moment
from memoryhub.lib.strict import StrictModel


class Note(StrictModel):
    """Something with a time."""

    at: Moment | None = None


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2026-11-21T10:00:00Z", 10),
        ("2026-11-21 10:00", 10),
        (" 2026-11-21T10:00:00+02:00 ", 8),
        ("2026-11-21", 0),
    ],
)
def test_iso_text_becomes_a_moment_in_utc(text: str, hour: int) -> None:
    """API-17: without a zone it is UTC."""
    assert Note.parse({"at": text}).at == dt.datetime(2026, 11, 21, hour, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "wrong",
    [
        4_000_000_000,
        1.7e9,
        True,
        "1700000000",
        " 1700000000 ",
        "1700000000.5",
        "-1",
        "1e9",
        "20261121",
        "１７",
        "NaN",
        [],
    ],
)
def test_numbers_are_no_moments_whether_bare_or_as_text(wrong: object) -> None:
    """API-17: nobody knows whether they are seconds, milliseconds or a date."""
    with pytest.raises(Invalid) as caught:
        Note.parse({"at": wrong})
    assert caught.value.errors[0].code == "datetime_type"


@pytest.mark.parametrize("wrong", ["9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59Z"])
def test_a_moment_outside_the_years_that_can_be_stored_is_refused(wrong: str) -> None:
    """API-17: counted in UTC."""
    with pytest.raises(Invalid) as caught:
        Note.parse({"at": wrong})
    assert caught.value.errors[0].code == "datetime_range"


def test_memories_and_keys_share_one_rule() -> None:
    """API-17: a draft's moment is this moment."""
    assert drafts.Moment is Moment
