"""Quotas a key cannot outrun, also when the broker is away."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import time_machine

from memoryhub.lib.ratelimit import Policy, RateLimited, RateLimiter

TEN = Policy("writes", 10)


def test_the_eleventh_request_of_ten_waits_for_the_next_minute():
    limiter = RateLimiter(None)
    with time_machine.travel("2026-01-01T00:00:20Z", tick=False) as clock:
        standings = [limiter.spend(TEN, "key") for _ in range(10)]
        assert standings[-1].remaining == 0
        assert standings[0].headers == {
            "RateLimit-Policy": '"writes";q=10;w=60',
            "RateLimit": '"writes";r=9;t=40',
        }
        with pytest.raises(RateLimited) as refused:
            limiter.spend(TEN, "key")
        assert refused.value.extra == {"policy": "writes", "retry_after": 40}
        assert limiter.spend(TEN, "another key").remaining == 9
        assert limiter.spend(Policy("reads", 10), "key").remaining == 9
        clock.shift(41)
        assert limiter.spend(TEN, "key").remaining == 9


def test_a_quota_of_zero_is_no_limit():
    limiter = RateLimiter(None)
    for _ in range(50):
        limiter.spend(Policy("writes", 0), "key")


def test_a_broker_that_is_away_costs_one_attempt_and_no_request(tmp_path: Path):
    """DEG-14: the limiter counts in its own process while the broker is away."""
    limiter = RateLimiter(f"redis+socket://{tmp_path}/nobody.sock?virtual_host=0")
    started = time.perf_counter()
    for _ in range(10):
        limiter.spend(TEN, "key")
    assert time.perf_counter() - started < 4  # half a second an attempt would be 5
    with pytest.raises(RateLimited):
        limiter.spend(TEN, "key")
