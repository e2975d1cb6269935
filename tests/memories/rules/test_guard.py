"""The guard's decisions, moment by moment."""

from __future__ import annotations

import datetime as dt

import pytest

from memories.rules.guard import (
    CLOSED,
    PROBE_LASTS,
    GuardRules,
    GuardState,
    admitted,
    after_error,
    after_success,
    mode,
    retry_at,
)
from memories.rules.settings import Settings
from memories.rules.vocabulary import GuardMode

START = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)
RULES = GuardRules.of(Settings().model_dump())


def at(seconds: float) -> dt.datetime:
    return START + dt.timedelta(seconds=seconds)


def failing(*moments: float, rules: GuardRules = RULES) -> GuardState:
    state = CLOSED
    for moment in moments:
        state = after_error(state, rules, at(moment))
    return state


def test_the_defaults_are_the_seeds():
    """GRD-01…04."""
    assert GuardRules(True, 5, dt.timedelta(seconds=600), dt.timedelta(seconds=300)) == RULES


@pytest.mark.parametrize(
    ("moments", "opens"),
    [
        ((0, 1, 2, 3), False),
        ((0, 1, 2, 3, 4), True),
        ((0, 150, 300, 450, 600), True),
        ((0, 150, 300, 450, 600.001), False),
        ((0, 200, 400, 600.5, 601, 602), True),
        ((0, 700, 1400, 2100, 2800, 3500), False),
    ],
)
def test_so_many_errors_within_the_window_open_it(moments, opens):
    """GRD-02, 03, 05, 10: the fifth inside 600 s, and only inside."""
    assert (failing(*moments).opened_at is not None) is opens


def test_only_errors_that_still_count_are_kept():
    """GRD-05."""
    assert failing(0, 1, 700).errors == (at(700),)


@pytest.mark.parametrize(
    ("after", "expected"),
    [(0, GuardMode.OPEN), (300, GuardMode.OPEN), (300.001, GuardMode.HALF_OPEN), (9_999, GuardMode.HALF_OPEN)],
)
def test_the_cool_down_ends_after_its_last_moment(after, expected):
    """GRD-04, GRD-10: at exactly 300 s still active."""
    opened = failing(0, 1, 2, 3, 4)
    assert mode(opened, RULES, at(4 + after)) is expected
    assert (admitted(opened, RULES, at(4 + after)) is None) is (expected is GuardMode.OPEN)


def test_errors_while_open_do_not_prolong_the_cool_down():
    """GRD-12, DEF-06: calls that began before it opened may still fail."""
    opened = failing(0, 1, 2, 3, 4)
    assert after_error(opened, RULES, at(200)) == opened
    assert after_success(opened) == opened


def test_one_probe_at_a_time():
    opened = failing(0, 1, 2, 3, 4)
    probing = admitted(opened, RULES, at(400))
    assert probing is not None
    assert probing.probing_since == at(400)
    assert admitted(probing, RULES, at(401)) is None
    assert admitted(probing, RULES, at(400) + PROBE_LASTS) is None
    again = admitted(probing, RULES, at(401) + PROBE_LASTS)
    assert again is not None
    assert again.probing_since == at(401) + PROBE_LASTS


def test_a_probes_answer_closes_it_and_clears_the_errors():
    """GRD-12, DEF-06: the next single error does not open it again."""
    probing = admitted(failing(0, 1, 2, 3, 4), RULES, at(400))
    assert probing is not None
    healed = after_success(probing, at(400))
    assert healed == CLOSED
    assert after_error(healed, RULES, at(401)).opened_at is None


def test_a_probes_error_opens_it_for_another_cool_down():
    probing = admitted(failing(0, 1, 2, 3, 4), RULES, at(400))
    assert probing is not None
    assert after_error(probing, RULES, at(410), at(400)) == GuardState(opened_at=at(410))


def test_a_lost_probe_that_answers_late_decides_nothing():
    first = admitted(failing(0, 1, 2, 3, 4), RULES, at(400))
    assert first is not None
    second = admitted(first, RULES, at(401) + PROBE_LASTS)
    assert second is not None
    assert after_success(second, at(400)) == second
    assert after_error(second, RULES, at(600), at(400)) == second


def test_success_while_closed_changes_nothing():
    assert after_success(failing(0, 1)) == failing(0, 1)


def test_switched_off_it_never_stops_anything():
    """GRD-01."""
    rules = GuardRules(False, 1, RULES.window, RULES.cooldown)
    assert failing(0, 1, 2, rules=rules) == CLOSED
    stood_open = GuardState(opened_at=at(0))
    assert admitted(stood_open, rules, at(1)) == stood_open
    assert mode(stood_open, rules, at(1)) is GuardMode.CLOSED


def test_when_to_try_again():
    """GRD-13: what waits knows until when."""
    opened = failing(0, 1, 2, 3, 4)
    again = retry_at(opened, RULES, at(5))
    assert again is not None
    assert admitted(opened, RULES, again) is not None
    probing = admitted(opened, RULES, at(400))
    assert probing is not None
    assert retry_at(probing, RULES, at(401)) == at(411)
    assert retry_at(CLOSED, RULES, at(0)) is None
