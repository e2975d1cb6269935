"""What moves up a tier, and what has to go when there is no room (TIE-01, TIE-02, TIE-12, CON-12, DEF-20)."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

import pytest

from memories.rules.layers import INFO
from memories.rules.promotion import (
    Bar,
    PromotionRules,
    barred_from_core,
    is_noted,
    over_limit,
    scheduled_lookback,
)

DEFAULTS = {key: info.default for key, info in INFO.items()}
RULES = PromotionRules.of(DEFAULTS)
SOME_DAY = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class One:
    type: str = "fact"
    importance: int = 3
    confidence: int = 4
    is_protected: bool = False
    at: dt.datetime = SOME_DAY


@pytest.mark.parametrize(
    ("one", "noted"),
    [
        (One(), True),
        (One(importance=1), True),
        (One(confidence=3), True),
        (One(confidence=2), False),
        (One(confidence=1, is_protected=True), True),
        (One(confidence=1, type="correction"), True),
    ],
)
def test_from_a_conversation_to_the_daily_note(one: One, noted: bool):
    """TIE-02: as sure and important as the vault asks for."""
    assert is_noted(one, RULES) is noted


@pytest.mark.parametrize(
    ("one", "mentions", "bar"),
    [
        (One(), 1, None),
        (One(importance=2), 1, Bar.IMPORTANCE),
        (One(importance=2), 2, None),
        (One(importance=1), 5, None),
        (One(confidence=3, importance=5), 9, Bar.CONFIDENCE),
        (One(confidence=1, importance=1, type="constraint"), 0, None),
        (One(confidence=1, importance=1, type="correction"), 0, None),
        (One(confidence=1, importance=1, is_protected=True), 0, None),
    ],
)
def test_from_the_daily_note_to_the_core_document(one: One, mentions: int, bar: Bar | None):
    """TIE-02: sure, and important or said often; what is reserved in any case."""
    assert barred_from_core(one, mentions, RULES) == bar


def test_the_rules_are_settings():
    """TIE-02: nothing about them is fixed."""
    strict = replace(RULES, core_importance=5, core_mentions=10)
    assert barred_from_core(One(importance=4), 3, strict) is Bar.IMPORTANCE
    assert barred_from_core(One(importance=4), 10, strict) is None


@pytest.mark.parametrize(("lines", "facts", "limit"), [(500, None, 500), (500, 20, 20), (10, 500, 10)])
def test_the_lower_limit_binds(lines: int, facts: int | None, limit: int):
    """CON-12: each limit by itself."""
    assert PromotionRules.of({**DEFAULTS, "core_max_lines": lines, "max_facts": facts}).core_lines == limit


def test_the_least_sure_goes_first_and_then_the_oldest():
    """TIE-12: sorted by confidence, oldest trimmed; DEF-20: never a constraint, a correction or what is protected."""
    later = SOME_DAY + dt.timedelta(days=1)
    lines = [
        One(confidence=5),
        One(confidence=4, at=later),
        One(confidence=4),
        One(confidence=1, type="correction"),
        One(confidence=1, is_protected=True),
    ]
    assert over_limit(lines, 5) == set()
    assert over_limit(lines, 4) == {2}
    assert over_limit(lines, 3) == {2, 1}
    assert over_limit(lines, 0) == {0, 1, 2}


@pytest.mark.parametrize(("wanted", "oldest", "days"), [(1, 0, 1), (1, 1, 1), (1, 4, 4), (7, 4, 7), (1, 90, 30)])
def test_missed_nights_are_made_up_for(wanted: int, oldest: int, days: int):
    """CON-19, GEN-06: 1 by default; to the oldest note that none has read, and never further than 30."""
    today = SOME_DAY.date()
    assert scheduled_lookback(wanted, today - dt.timedelta(days=oldest), today, 30) == days
