"""When to stop asking a service that keeps failing, and when to try again (GRD-01…12, DEF-06); pure.

Closed: every call goes. So many errors within the window open it: no call goes until the cool-down is over. Then one
probe goes: an answer closes the guard and forgets the errors, another error opens it again. Nothing that happens while
it is open prolongs the cool-down.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from memories.rules.vocabulary import GuardMode

PROBE_LASTS = dt.timedelta(seconds=120)
"""A probe that has said nothing for this long counts as lost, and another may go."""
PROBE_CHECKED_EVERY = dt.timedelta(seconds=10)
"""How soon those who wait for a probe ask how it went."""


@dataclass(frozen=True, slots=True)
class GuardRules:
    """So many errors within the window open the guard for the cool-down."""

    enabled: bool
    threshold: int
    window: dt.timedelta
    cooldown: dt.timedelta

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> GuardRules:
        """From the settings that hold for a vault."""
        return cls(
            enabled=settings["enable_error_guard"],
            threshold=settings["error_guard_threshold"],
            window=dt.timedelta(seconds=settings["error_guard_window_seconds"]),
            cooldown=dt.timedelta(seconds=settings["error_guard_cooldown_seconds"]),
        )


@dataclass(frozen=True, slots=True)
class GuardState:
    """The errors that still count while closed; since when it is open; when the probe under way began."""

    errors: tuple[dt.datetime, ...] = ()
    opened_at: dt.datetime | None = None
    probing_since: dt.datetime | None = None


CLOSED = GuardState()


def mode(state: GuardState, rules: GuardRules, at: dt.datetime) -> GuardMode:
    """Closed, open up to and including the last moment of the cool-down, half-open after it (GRD-10)."""
    if state.opened_at is None or not rules.enabled:
        return GuardMode.CLOSED
    return GuardMode.OPEN if at <= state.opened_at + rules.cooldown else GuardMode.HALF_OPEN


def admitted(state: GuardState, rules: GuardRules, at: dt.datetime) -> GuardState | None:
    """The state to go on with when a call may go now, with its probe noted; None when it may not (GRD-06)."""
    match mode(state, rules, at):
        case GuardMode.CLOSED:
            return state
        case GuardMode.OPEN:
            return None
        case GuardMode.HALF_OPEN:
            probing = state.probing_since is not None and at <= state.probing_since + PROBE_LASTS
            return None if probing else replace(state, probing_since=at)


def retry_at(state: GuardState, rules: GuardRules, at: dt.datetime) -> dt.datetime | None:
    """When a call that was not admitted may try again; None while the guard is closed."""
    match mode(state, rules, at):
        case GuardMode.CLOSED:
            return None
        case GuardMode.OPEN:
            assert state.opened_at is not None
            return state.opened_at + rules.cooldown + dt.timedelta(seconds=1)
        case GuardMode.HALF_OPEN:
            return at + PROBE_CHECKED_EVERY


def after_error(state: GuardState, rules: GuardRules, at: dt.datetime, probe: dt.datetime | None = None) -> GuardState:
    """The state after a call failed; ``probe`` is when it began, if it went as the probe (GRD-02…05, GRD-12)."""
    if not rules.enabled:
        return CLOSED
    if state.opened_at is not None:
        is_the_probe = probe is not None and probe == state.probing_since
        return GuardState(opened_at=at) if is_the_probe else state
    errors = (*(each for each in state.errors if at - each <= rules.window), at)
    return GuardState(opened_at=at) if len(errors) >= rules.threshold else GuardState(errors=errors)


def after_success(state: GuardState, probe: dt.datetime | None = None) -> GuardState:
    """The state after a call was answered: the probe's answer closes the guard and clears its errors (DEF-06)."""
    return CLOSED if probe is not None and probe == state.probing_since else state
