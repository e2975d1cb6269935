"""How the whole store is spread over its banks, for the metrics page (MET-01)."""

from __future__ import annotations

import time

from django.db.models import Count

from banks.services.vaults import FIRST_BANKS
from memories.models import Memory
from memoryhub.lib.clock import now

OTHER = "other"
REMEMBERED_SECONDS = 60.0
_remembered: tuple[float, dict[str, int]] | None = None


def count_by_bank() -> dict[str, int]:
    """Memories recall may return, over all vaults, by the banks every vault starts with; the rest is ``other``.

    A bank somebody named says something about its vault, and users are without number: neither becomes a label
    (MET-08). Counted at most once a minute.
    """
    global _remembered
    if _remembered is None or time.monotonic() - _remembered[0] > REMEMBERED_SECONDS:
        _remembered = time.monotonic(), _counted()
    return _remembered[1]


def forget_counts() -> None:
    """Count anew the next time."""
    global _remembered
    _remembered = None


def _counted() -> dict[str, int]:
    counts = dict.fromkeys([*FIRST_BANKS, OTHER], 0)
    rows = Memory.objects.recallable(now()).order_by().values_list("bank__name").annotate(Count("pk"))
    for name, count in rows:
        counts[name if name in FIRST_BANKS else OTHER] += count
    return counts
