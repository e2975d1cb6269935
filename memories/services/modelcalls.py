"""Questions to language models as services ask them, and what people see of them: the ledger and the guard."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Count, QuerySet, Sum

from banks.access import Access, KeyScope
from banks.services.audit import Audited, record_audit
from memories.calls.asking import ModelAnswer, ModelQuestion, ask_model
from memories.calls.guarding import ModelUnavailable, clear_guard, state_of
from memories.events import EventType
from memories.models import CallGuard, ModelCall
from memories.models.effective import opened_settings
from memories.rules.guard import GuardRules, mode, retry_at
from memories.rules.vocabulary import CallResult, GuardedService, GuardMode
from memoryhub.lib.clock import now

# Search asks as well, so asking lives a floor below; services take it from here.
__all__ = [
    "CallCounts",
    "GuardView",
    "ModelAnswer",
    "ModelQuestion",
    "ModelUnavailable",
    "ask_model",
    "count_model_calls",
    "list_model_calls",
    "read_guard",
    "reset_guard",
]


@dataclass(frozen=True, slots=True)
class GuardView:
    """One service's guard: its mode, the errors that count, since when it is open and when the next call goes."""

    service: GuardedService
    mode: GuardMode
    errors: int
    opened_at: dt.datetime | None
    retry_at: dt.datetime | None
    last_error: str
    changed_at: dt.datetime | None


def read_guard(access: Access) -> list[GuardView]:
    """The guards of this vault, one for each service. Needs ops:read (GRD-14)."""
    access.require(KeyScope.OPS_READ)
    return _views(access)


def _views(access: Access) -> list[GuardView]:
    rows = {row.service: row for row in CallGuard.objects.filter(vault_id=access.vault_id)}
    rules = GuardRules.of(opened_settings(access))
    return [_view(rules, service, rows.get(service.value)) for service in GuardedService]


def _view(rules: GuardRules, service: GuardedService, row: CallGuard | None) -> GuardView:
    if row is None:
        return GuardView(service, GuardMode.CLOSED, 0, None, None, "", None)
    state, at = state_of(row), now()
    counted = sum(at - each <= rules.window for each in state.errors)
    return GuardView(
        service=service,
        mode=mode(state, rules, at),
        errors=counted,
        opened_at=state.opened_at,
        retry_at=retry_at(state, rules, at),
        last_error=row.last_error,
        changed_at=row.changed_at,
    )


def reset_guard(access: Access) -> list[GuardView]:
    """Close every guard of this vault and forget their errors; what was deferred runs at its next turn. How they are.

    Needs ops:write (GRD-14). Raises WholeVaultNeeded.
    """
    access.require(KeyScope.OPS_WRITE)
    access.require_whole_vault()
    with transaction.atomic():
        for service in GuardedService:
            clear_guard(access, service)
        record_audit(access, Audited("reset_guard", "guard", None, event=EventType.GUARD_RESET))
    return _views(access)


@dataclass(frozen=True, slots=True)
class CallCounts:
    """Calls by result, and the tokens they cost."""

    results: dict[str, int]
    tokens_in: int
    tokens_out: int


def list_model_calls(
    access: Access, result: CallResult | None = None, limit: int = 100, before: UUID | None = None
) -> list[ModelCall]:
    """The vault's newest rows of the ledger, of one result if given, older than ``before``. Needs ops:read.

    Raises WholeVaultNeeded: a row names the memories that a model was asked about together.
    """
    access.require(KeyScope.OPS_READ)
    access.require_whole_vault()
    calls = ModelCall.objects.filter(vault_id=access.vault_id)
    calls = calls.filter(result=result.value) if result else calls
    calls = calls.filter(pk__lt=before) if before else calls
    return list(calls.order_by("-pk")[:limit])  # ids are handed out in the order of time


def count_model_calls(access: Access, since: dt.datetime | None = None, request_id: str = "") -> CallCounts:
    """What the ledger of this vault adds up to, since a moment or in all, of one request if given. Needs ops:read.

    Raises WholeVaultNeeded.
    """
    access.require(KeyScope.OPS_READ)
    access.require_whole_vault()
    calls: QuerySet[ModelCall] = ModelCall.objects.filter(vault_id=access.vault_id)
    calls = calls.filter(created_at__gte=since) if since else calls
    calls = calls.filter(request_id=request_id) if request_id else calls
    rows = list(calls.order_by().values_list("result").annotate(Count("pk"), Sum("tokens_in"), Sum("tokens_out")))
    found = {result: count for result, count, _, _ in rows}
    return CallCounts(
        {result.value: found.get(result.value, 0) for result in CallResult},
        sum(spent for *_, spent, _ in rows),
        sum(spent for *_, spent in rows),
    )
