"""The error guard as every process sees it: one row for each vault and service, changed under its lock (GRD-11)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import structlog
from django.db import transaction

from banks.access import Access
from memories.events import EventType
from memories.models import CallGuard, GuardSpell, Happened, record_events
from memories.models.effective import config_version, remembered_settings
from memories.rules.guard import CLOSED, GuardRules, GuardState, admitted, after_error, after_success, retry_at
from memories.rules.vocabulary import GuardedService
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Unavailable
from memoryhub.lib.metrics import GUARD_ACTIVATIONS
from memoryhub.providers.base import ProviderError

log = structlog.get_logger(__name__)
DETAIL_LENGTH = 300

type Step = Callable[[GuardState, GuardRules, dt.datetime], GuardState | None]


class ModelUnavailable(Unavailable):
    """The model or embedding service cannot be asked now; what needs it waits and is done later."""

    code = "model_unavailable"

    def __init__(self, message: str | None = None, *, retry_at: dt.datetime | None = None) -> None:
        super().__init__(message)
        self.retry_at = retry_at
        """When the guard lets a call through again; None when it is the caller's turn to decide."""


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave to call a service once; ``probe`` is set when the guard's recovery depends on how it goes."""

    service: GuardedService
    probe: dt.datetime | None = None


def guard_rules(access: Access) -> GuardRules:
    """The rules that hold in this vault (GRD-01…04)."""
    return GuardRules.of(remembered_settings(access, config_version(access.vault_id)))


def ask_permit(access: Access, service: GuardedService) -> Permit:
    """Leave to call the service. Raises ModelUnavailable while the guard is open or another probe is under way.

    Must be called outside any transaction, as must the call itself: a slow service would hold its locks.
    """
    rules = guard_rules(access)
    with transaction.atomic(durable=True):
        row = CallGuard.objects.filter(vault_id=access.vault_id, service=service).first()
        if row is None or row.opened_at is None or not rules.enabled:
            return Permit(service)
        before, after = _step(access.vault_id, service, rules, admitted)
        if after is None:
            raise ModelUnavailable(
                f"Not asked: the guard of the {service} is open after repeated errors.",
                retry_at=retry_at(before, rules, now()),
            )
    return Permit(service, after.probing_since if after != before else None)


def note_success(access: Access, permit: Permit) -> None:
    """The call was answered; a probe's answer closes the guard. Writes nothing otherwise."""
    if permit.probe is None:
        return
    with transaction.atomic():
        before, after = _step(
            access.vault_id,
            permit.service,
            guard_rules(access),
            lambda state, _r, _at: after_success(state, permit.probe),
        )
        if after != before:
            record_events(access.vault_id, _told(EventType.GUARD_RECOVERED, permit.service))
    if after != before:
        log.info("guard_closed", vault_id=str(access.vault_id), service=permit.service)


def note_error(access: Access, permit: Permit, error: ProviderError) -> dt.datetime | None:
    """The call failed. When the guard is open because of it: the moment to try again; None otherwise (GRD-07, 08)."""
    rules, at = guard_rules(access), now()
    with transaction.atomic():
        before, after = _step(
            access.vault_id,
            permit.service,
            rules,
            lambda state, rules, at: after_error(state, rules, at, permit.probe),
            error.message,
        )
        assert after is not None
        activated = after.opened_at is not None and before.opened_at is None
        if activated:
            record_events(access.vault_id, _told(EventType.GUARD_ACTIVATED, permit.service))
    if activated:
        GUARD_ACTIVATIONS.labels(permit.service).inc()
        log.warning(
            "guard_activated",
            vault_id=str(access.vault_id),
            service=permit.service,
            error_count=rules.threshold,
            window_seconds=int(rules.window.total_seconds()),
            error=error.code,
        )
    return retry_at(after, rules, at)


def _told(event: EventType, service: GuardedService) -> Happened:
    return Happened(event, "guard", data={"service": service.value})


@contextmanager
def guarded(access: Access, service: GuardedService) -> Iterator[None]:
    """A call to the service inside, watched by its guard; to be entered outside any transaction.

    Raises ModelUnavailable when the guard is open before the call or because of it. Other ProviderErrors pass, also
    those that only a person can put right.
    """
    permit = ask_permit(access, service)
    try:
        yield
    except ProviderError as error:
        again = note_error(access, permit, error)
        if again is None or error.permanent:
            raise
        raise ModelUnavailable(error.message, retry_at=again) from error
    note_success(access, permit)


def clear_guard(access: Access, service: GuardedService) -> GuardState:
    """Close the guard and forget its errors, whatever it was; what it was. In the caller's transaction."""
    before, _ = _step(access.vault_id, service, guard_rules(access), lambda _s, _r, _at: CLOSED)
    return before


def _step(
    vault_id: UUID, service: GuardedService, rules: GuardRules, decide: Step, error: str = ""
) -> tuple[GuardState, GuardState | None]:
    """Read the state under its lock, decide, store; the state before and the one decided."""
    CallGuard.objects.bulk_create([CallGuard(vault_id=vault_id, service=service)], ignore_conflicts=True)
    row = CallGuard.objects.select_for_update().get(vault_id=vault_id, service=service)
    before = state_of(row)
    after = decide(before, rules, now())
    if after is not None and (after != before or error):
        row.errors, row.opened_at, row.probing_since = list(after.errors), after.opened_at, after.probing_since
        row.last_error = error[:DETAIL_LENGTH] or row.last_error
        row.changed_at = now()
        row.save(update_fields=["errors", "opened_at", "probing_since", "last_error", "changed_at"])
        if after.opened_at != before.opened_at:
            _note_spell(row, before, after, rules)
    return before, after


def _note_spell(row: CallGuard, before: GuardState, after: GuardState, rules: GuardRules) -> None:
    """What the plot of the guard is drawn from; the guard's row is locked, so spells follow one another."""
    mine = GuardSpell.objects.filter(vault_id=row.vault_id, service=row.service)
    if before.opened_at is not None:
        mine.filter(ended_at=None).update(ended_at=now())
    if after.opened_at is not None:
        probes_at = after.opened_at + rules.cooldown
        mine.create(
            vault_id=row.vault_id,
            service=row.service,
            opened_at=after.opened_at,
            probes_at=probes_at,
            error=row.last_error,
        )


def state_of(row: CallGuard) -> GuardState:
    """A stored row as the rules see it."""
    return GuardState(tuple(row.errors), row.opened_at, row.probing_since)
