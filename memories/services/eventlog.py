"""Forget old events. The audit keeps its own rows; they are only not told any more."""

from __future__ import annotations

import datetime as dt

from django.db.models import OuterRef, Subquery

from banks.access import system_access
from banks.models import Vault
from memories.models import Event
from memories.models.effective import effective_settings
from memoryhub.lib.clock import now
from memoryhub.lib.sealing import gate

TRIMMED_AT_ONCE = 2_000
_LEAST_KEPT = dt.timedelta(days=1)


def trim_events() -> int:
    """Delete events older than their vault keeps, a bounded part each time; how many. The hub's own sweep.

    The newest of the old ones stays: it tells a listener who comes back late that something is missing.
    """
    at, trimmed = now(), 0
    oldest = Event.objects.filter(vault_id=OuterRef("pk")).order_by("id").values("at")[:1]
    due = Vault.objects.annotate(oldest=Subquery(oldest)).filter(oldest__lt=at - _LEAST_KEPT)
    for vault_id in due.values_list("pk", flat=True):
        with gate.session():
            kept = dt.timedelta(days=effective_settings(system_access(vault_id))["events_days"].value)
        rows = Event.objects.filter(vault_id=vault_id).order_by("id").values_list("id", "at")
        old = [one for one, when in rows[: TRIMMED_AT_ONCE + 1] if when < at - kept]
        trimmed += Event.objects.filter(vault_id=vault_id, id__in=old[:-1]).delete()[0]
    return trimmed
