"""The breaker of calls that somebody waits for."""

from __future__ import annotations

import pytest

from memoryhub.lib.breaker import Breaker


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(failures=3, seconds=15, clock=clock)


def fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        assert breaker.admits()
        breaker.failed()


def test_it_opens_after_failures_in_a_row(breaker):
    fail(breaker, 2)
    breaker.succeeded()
    fail(breaker, 3)
    assert not breaker.admits()


def test_after_the_pause_one_may_try(breaker, clock):
    fail(breaker, 3)
    clock.seconds = 16
    assert [breaker.admits() for _ in range(3)] == [True, False, False]
    breaker.failed()
    clock.seconds = 30
    assert not breaker.admits()
    clock.seconds = 32
    assert breaker.admits()
    breaker.succeeded()
    assert [breaker.admits() for _ in range(3)] == [True, True, True]


def test_a_call_that_never_reports_blocks_nobody_for_ever(breaker, clock):
    fail(breaker, 3)
    clock.seconds = 16
    assert breaker.admits()
    clock.seconds = 32
    assert breaker.admits()
