"""Which failures are tried again, and after how long."""

from __future__ import annotations

import pytest

from memoryhub.client import HubTimeout, HubUnreachable, MemoryHubError, Retries
from memoryhub.client.errors import Problem, error_of


def answered(status: int, retry_after: str | None = None) -> MemoryHubError:
    return error_of(status, {"Retry-After": retry_after} if retry_after else {}, b"")


def lost(*, arrived: bool) -> HubUnreachable:
    return HubTimeout(Problem(None, "timeout", ""), arrived=arrived)


def test_pauses_double_up_to_a_bound_and_are_drawn():
    retries = Retries(attempts=9, first=0.2, longest=1.0)
    for attempt, most in ((1, 0.2), (2, 0.4), (3, 0.8), (4, 1.0), (8, 1.0)):
        pauses = [retries.pause(answered(503), attempt) or 0 for _ in range(50)]
        assert most / 2 <= min(pauses) < max(pauses) <= most
    assert retries.pause(answered(503), 9) is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 415, 422, 500])
def test_what_will_not_pass(status: int):
    assert Retries().pause(answered(status), 1) is None


@pytest.mark.parametrize(
    ("error", "repeatable", "again"),
    [
        (lost(arrived=True), True, True),
        (lost(arrived=True), False, False),
        (lost(arrived=False), False, True),
        (answered(429), False, True),
        (answered(503), False, False),
        (answered(503), True, True),
    ],
)
def test_what_cannot_be_repeated_is_sent_again_only_where_it_did_not_arrive(
    error: MemoryHubError, repeatable: bool, again: bool
):
    assert (Retries().pause(error, 1, repeatable=repeatable) is not None) is again


def test_the_hub_says_how_long():
    """Within the caller's patience, and a little longer, so that not all come back at once."""
    retries = Retries(patience=10)
    assert 10 <= (retries.pause(answered(429, "10"), 1) or 0) <= 11
    assert retries.pause(answered(429, "11"), 1) is None
