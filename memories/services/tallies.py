"""What no trigger can see, tallied in the transaction it happens in: what became of a write, and what was given out."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import connection

from banks.access import Access
from memories.models import Tally
from memories.rules.rollups import Fate, Metric
from memories.rules.vocabulary import Outcome
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now

if TYPE_CHECKING:
    from memories.services.outcomes import WriteResult

_EXACT = "exact_hash"
_FATES: Mapping[Outcome, Fate] = {
    Outcome.CREATED: Fate.CREATED,
    Outcome.UPDATED: Fate.UPDATED,
    Outcome.SUPERSEDED: Fate.SUPERSEDED,
    Outcome.IDEMPOTENT: Fate.IDEMPOTENT,
}


def tally_writes(access: Access, results: Sequence[WriteResult]) -> None:
    """Count what became of writes, by bank; it commits with them or not at all, so a write that is retried is one."""
    counts = Counter((_fate(result), result.memory.bank_id) for result in results)
    hour = now().replace(minute=0, second=0, microsecond=0)
    rows = [
        Tally(vault_id=access.vault_id, at=hour, metric=Metric.WRITTEN.value, label=fate.value, bank_id=bank_id, n=n)
        for (fate, bank_id), n in counts.items()
    ]
    insert_rows(rows)


def _fate(result: WriteResult) -> Fate:
    if result.outcome is Outcome.DUPLICATE:
        return Fate.EXACT if result.decided_by == _EXACT else Fate.NEAR
    return _FATES[result.outcome]


def tally_recalls(access: Access, given: Sequence[UUID], at: dt.datetime) -> None:
    """Count memories that were given out, each time it was, by bank and by how they stand then."""
    with connection.cursor() as cursor:
        cursor.execute(_RECALLS, [at, list(given), access.vault_id])


_RECALLS = """
    INSERT INTO memories_tally (vault_id, at, metric, label, bank_id, n)
    SELECT one.vault_id, date_trunc('hour', %s::timestamptz, 'UTC'), 'recalled',
        memoryhub_stands(one.status, one.archived_at, one.superseded_by_id), one.bank_id, count(*)
    FROM unnest(%s::uuid[]) AS given (id) JOIN memories_memory AS one ON one.id = given.id AND one.vault_id = %s
    GROUP BY 1, 4, 5
"""
