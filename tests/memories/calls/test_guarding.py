"""The guard in the database: one state for every process, changed under its lock."""

from __future__ import annotations

import datetime as dt

import pytest
import time_machine

from memories.calls.guarding import ModelUnavailable, Permit, ask_permit, note_error, note_success
from memories.models import CallGuard
from memories.rules.settings import Level
from memories.rules.vocabulary import GuardedService, GuardMode
from memories.search.statistics import read_guard_spells
from memories.services.modelcalls import read_guard, reset_guard
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from memoryhub.providers.base import ProviderError
from tests.factories import make_vault, operator
from tests.racing import together

CHAT = GuardedService.CHAT
FAILURE = ProviderError("The model answered 500.")
AFTER_COOLDOWN = dt.timedelta(seconds=301)


def fail(access, times: int) -> list[dt.datetime | None]:
    return [note_error(access, ask_permit(access, CHAT), FAILURE) for _ in range(times)]


def chat_guard(access):
    return next(guard for guard in read_guard(access) if guard.service is CHAT)


def admits(access) -> Permit | None:
    try:
        return ask_permit(access, CHAT)
    except ModelUnavailable:
        return None


def test_the_fifth_error_opens_it(access):
    """GRD-02, GRD-06, GRD-10: and it says when to come back."""
    *before, last = fail(access, 5)
    assert before == [None] * 4
    guard = chat_guard(access)
    assert (guard.mode, guard.last_error) == (GuardMode.OPEN, "The model answered 500.")
    with pytest.raises(ModelUnavailable) as refused:
        ask_permit(access, CHAT)
    assert refused.value.retry_at == last == guard.retry_at


def test_each_service_and_each_vault_has_its_own(access, other_access):
    fail(access, 5)
    assert ask_permit(access, GuardedService.EMBEDDER) == Permit(GuardedService.EMBEDDER)
    assert ask_permit(other_access, CHAT) == Permit(CHAT)


def test_recovery_clears_the_errors(access):
    """GRD-04, GRD-12, DEF-06."""
    fail(access, 5)
    with time_machine.travel(now() + AFTER_COOLDOWN):
        permit = ask_permit(access, CHAT)
        assert permit.probe is not None
        assert chat_guard(access).mode is GuardMode.HALF_OPEN
        assert admits(access) is None
        note_success(access, permit)
        assert (chat_guard(access).mode, chat_guard(access).errors) == (GuardMode.CLOSED, 0)
        assert fail(access, 4) == [None] * 4


def test_a_failed_probe_waits_for_another_cool_down(access):
    fail(access, 5)
    later = now() + AFTER_COOLDOWN
    with time_machine.travel(later):
        note_error(access, ask_permit(access, CHAT), FAILURE)
        assert admits(access) is None
    with time_machine.travel(later + AFTER_COOLDOWN):
        assert admits(access) is not None


@pytest.mark.django_db(transaction=True)
def test_only_one_of_many_may_probe():
    """GRD-11: the state is shared, so one thread of eight goes, whatever process it is in."""
    access = operator(make_vault("Home"))
    fail(access, 5)
    CallGuard.objects.update(opened_at=now() - AFTER_COOLDOWN)
    permits = together([lambda: admits(operator(access.vault))] * 8)
    assert sorted(type(each).__name__ for each in permits) == ["NoneType"] * 7 + ["Permit"]


@pytest.mark.django_db(transaction=True)
def test_no_error_is_lost_between_processes():
    """GRD-11, DEF-06: five at once open it."""
    access = operator(make_vault("Home"))
    outcomes = together([lambda: note_error(operator(access.vault), Permit(CHAT), FAILURE)] * 5)
    assert [each for each in outcomes if isinstance(each, Exception)] == []
    assert chat_guard(access).mode is GuardMode.OPEN


def test_its_numbers_are_settings(access):
    """GRD-01, GRD-02."""
    write_setting(access, Level.VAULT, "error_guard_threshold", 2)
    fail(access, 2)
    assert admits(access) is None
    write_setting(access, Level.VAULT, "enable_error_guard", False)
    assert admits(access) == Permit(CHAT)


def test_a_person_can_reset_it(access):
    """GRD-14."""
    fail(access, 5)
    reset = reset_guard(access)
    assert {guard.mode for guard in reset} == {GuardMode.CLOSED}
    assert fail(access, 4) == [None] * 4


def test_every_time_it_was_open_is_remembered(access):
    """GRD-14: from the error that opened it to the probe that closed it; a failed probe begins anew."""
    fail(access, 5)
    with time_machine.travel(now() + AFTER_COOLDOWN, tick=False):
        note_error(access, ask_permit(access, CHAT), FAILURE)
    with time_machine.travel(now() + 2 * AFTER_COOLDOWN + dt.timedelta(seconds=5), tick=False):
        note_success(access, ask_permit(access, CHAT))
    first, second = read_guard_spells(access, now() - AFTER_COOLDOWN)
    assert first.ended_at == second.opened_at
    assert (first.probes_at - first.opened_at).total_seconds() == 300
    assert second.ended_at is not None
    assert first.error == "The model answered 500."


def test_a_person_who_closes_it_ends_the_spell(access):
    """And an open one has no end."""
    fail(access, 5)
    (going,) = read_guard_spells(access, now())
    assert going.ended_at is None
    reset_guard(access)
    (ended,) = read_guard_spells(access, going.opened_at)
    assert ended.ended_at is not None
