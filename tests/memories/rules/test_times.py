"""Times in plain language, resolved against a given day."""

from __future__ import annotations

import datetime as dt

import pytest

from memories.rules.times import asks_when, date_share, days_meant, mentions_time

TODAY = dt.date(2026, 11, 21)  # a Saturday


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What happened on 7 May 2024?", "2024-05-07", "2024-05-07"),
        ("What happened on May 7th, 2024?", "2024-05-07", "2024-05-07"),
        ("the release of 2024-05-07", "2024-05-07", "2024-05-07"),
        ("the release of 7.5.2024", "2024-05-07", "2024-05-07"),
        ("What did we plan for June 2025?", "2025-06-01", "2025-06-30"),
        ("costs in 2025", "2025-01-01", "2025-12-31"),
        ("what did I eat yesterday", "2026-11-20", "2026-11-20"),
        ("the call last week", "2026-11-09", "2026-11-15"),
        ("the party last weekend", "2026-11-14", "2026-11-15"),
        ("the plan for next month", "2026-12-01", "2026-12-31"),
        ("last Monday's meeting", "2026-11-16", "2026-11-16"),
        ("the trip on Saturday", "2026-11-14", "2026-11-14"),
        ("what broke two days ago", "2026-11-19", "2026-11-19"),
        ("what broke 3 weeks ago", "2026-10-28", "2026-11-03"),
    ],
)
def test_days_a_question_means(question, first, last):
    (days,) = days_meant(question, TODAY)
    assert (days.first.isoformat(), days.last.isoformat(), days.yearly) == (first, last, False)


def test_a_month_without_a_year_is_that_month_of_any_year():
    meant = days_meant("What did she paint in June?", TODAY)
    assert [date_share(meant, dt.date(year, 6, 30)) for year in (2019, 2026)] == [1, 1]
    assert date_share(meant, dt.date(2024, 9, 1)) == 0
    assert date_share(days_meant("born on 29 February", TODAY), dt.date(2024, 2, 29)) == 1


@pytest.mark.parametrize(
    "question", ["May I come in?", "who may know?", "31 February 2024", "room 2024x", "", "7.30.1"]
)
def test_what_names_no_day(question):
    assert days_meant(question, TODAY) == []
    assert date_share([], TODAY) == 0


def test_people_tell_of_a_day_soon_after_it():
    meant = days_meant("on 7 May 2024", TODAY)
    assert [date_share(meant, dt.date(2024, 5, day)) for day in (6, 7, 8, 14, 15)] == [0, 1, 0.5, 0.5, 0]


def test_what_mentions_and_what_asks():
    assert mentions_time("We moved last year") and mentions_time("Sent on 2024") and mentions_time("three days ago")
    assert not mentions_time("We may move") and not mentions_time("The kettle is red")
    assert asks_when("When did they move?") and asks_when("What year was it?") and asks_when("how long did it take")
    assert not asks_when("Where did they move?") and not asks_when("whenever")
