"""How long searches take, by stage, counted beside them: handed over at once, written down together.

A process that is killed takes its last seconds along: they are statistics, and no search waits for them.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

import structlog
from django.db import DatabaseError, InterfaceError, connection, transaction

from memories.models import Tally
from memories.rules.rollups import Metric, cell_of
from memories.search.trace import Stage
from memoryhub.lib.backlog import Backlog
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.metrics import ACCESSES_LOST

WRITTEN_EVERY = 5.0
#: What one process writes in a round, and how much of a burst it remembers meanwhile.
ROUND, WAITING = 2_000, 20_000
#: The label of a search as a whole, beside those of its stages.
WHOLE = "whole"

log = structlog.get_logger(__name__)

type _Note = tuple[UUID, dt.datetime, float, Sequence[Stage]]


def note_stages(vault_id: UUID, took_ms: float, stages: Sequence[Stage]) -> None:
    """Note what one search took; returns at once and never fails."""
    _backlog.add((vault_id, now(), took_ms, stages))


def start_timing() -> None:
    """Write the notes down in the background from now on, and the last ones when the process ends."""
    _backlog.start(WRITTEN_EVERY)


def flush_timing() -> None:
    """Write down, before returning, whatever is waiting in this process."""
    _backlog.flush()


def _write_down(notes: Sequence[_Note]) -> None:
    counts = Counter[tuple[UUID, dt.datetime, str, int]]()
    for vault_id, at, took_ms, stages in notes:
        hour = at.replace(minute=0, second=0, microsecond=0)
        counts[vault_id, hour, WHOLE, cell_of(took_ms)] += 1
        for stage in stages:
            counts[vault_id, hour, stage.name, cell_of(stage.ms)] += 1
    rows = [
        Tally(vault_id=vault_id, at=at, metric=Metric.TOOK.value, label=label, cell=cell, n=count)
        for (vault_id, at, label, cell), count in counts.items()
    ]
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('synchronous_commit', 'off', true)")
            insert_rows(rows)
    except (DatabaseError, InterfaceError) as error:
        ACCESSES_LOST.labels("failed").inc(len(notes))
        log.warning("timings_not_recorded", count=len(notes), error=type(error).__name__)


_backlog = Backlog(_write_down, ACCESSES_LOST.labels("overflow").inc, capacity=WAITING, bulk=ROUND)
