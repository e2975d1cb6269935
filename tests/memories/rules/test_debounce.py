"""When a busy conversation is read, and what makes it urgent."""

from __future__ import annotations

import datetime as dt

import pytest

from memories.rules.debounce import Patience, due_at, is_signal

START = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("last", "waiting", "patience", "due"),
    [
        (0, 1, Patience(), 30),
        (100, 5, Patience(), 130),
        (290, 50, Patience(), 300),
        (1_000, 90, Patience(), 300),
        (10, 2, Patience(few=3), 300),
        (10, 3, Patience(few=3), 40),
        (10, 1, Patience(quiet=0), 10),
    ],
)
def test_after_a_quiet_moment_but_not_for_ever(last: int, waiting: int, patience: Patience, due: int):
    """TIE-10, TIE-16, CON-20."""
    found = due_at(START, START + dt.timedelta(seconds=last), waiting, patience)
    assert found == START + dt.timedelta(seconds=due)


@pytest.mark.parametrize(
    "said",
    [
        "Remember that I'm allergic to nuts.",
        "please don't forget my birthday",
        "No, it's Bergen.",
        "Actually, I moved.",
    ],
)
def test_signals(said: str):
    """TIE-11."""
    assert is_signal(said)


@pytest.mark.parametrize("said", ["I remember the sea.", "Nobody knows.", "Do you remember?", "We noted it.", ""])
def test_no_signals(said: str):
    assert not is_signal(said)
