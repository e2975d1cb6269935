"""Work that comes round by itself in every vault. The sweeper asks; jobs do it.

Each line of ``PERIODIC`` names a job, the setting that switches it on, and how often: nothing here knows what is done.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, transaction

from banks.access import Access, system_access
from banks.services.banks import remembered_banks
from memories.jobs import JobKind
from memories.models import Schedule
from memories.models.effective import config_version
from memories.rules.schedules import Rhythm, due_after
from memories.services.clustering import has_old_memories
from memories.services.context import WriteContext
from memories.services.dreams import has_new_notes
from memories.services.jobs import enqueue_job
from memories.services.probing import has_gaps
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError
from memoryhub.lib.sealing import gate

log = structlog.get_logger(__name__)
LOOKED_AT_ONCE = 100
#: A vault that cannot be opened is tried again after this long, and holds nobody else up.
TRY_AGAIN = dt.timedelta(hours=1)


def _always(_: Access) -> bool:
    return True


@dataclass(frozen=True)
class Periodic:
    """One kind of periodic work.

    ``switch``: the setting that turns it on, for the vault or for one of its banks. ``hours``: how often, a setting or
    a number. ``hour``: the hour of the day (UTC) it waits for, likewise. ``has_work``: a cheap question; a round with
    nothing to do leaves no job behind.
    """

    kind: JobKind
    switch: str | None
    hours: str | int
    hour: str | int | None = None
    has_work: Callable[[Access], bool] = _always


PERIODIC: tuple[Periodic, ...] = (
    Periodic(
        JobKind.SUMMARIZE_MEMORIES, "enable_summarization", "summarization_interval_hours", has_work=has_old_memories
    ),
    Periodic(JobKind.ENFORCE_RETENTION, "enable_retention", 24),
    Periodic(JobKind.REINDEX_MEMORIES, None, 24, has_work=has_gaps),
    Periodic(JobKind.PLAN_CLEANUP, "cleanup_scheduled", "cleanup_every_hours"),
    Periodic(JobKind.DREAM, "enable_dreams", hours=24, hour="dream_hour", has_work=has_new_notes),
)


def enqueue_periodic(periodic: Sequence[Periodic] = PERIODIC) -> int:
    """Enqueue the periodic work that is due; how many jobs. One statement when nothing is. The hub's own sweep.

    A vault's first round is one interval after the vault was made; a changed setting counts at once.
    """
    of_kind = {one.kind.value: one for one in periodic}
    with gate.session():
        return sum(_look(vault_id, of_kind[kind]) for vault_id, kind in _to_look_at(list(of_kind)))


def _to_look_at(kinds: list[str]) -> list[tuple[Any, ...]]:
    if not kinds:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_TO_LOOK_AT, [kinds, now(), LOOKED_AT_ONCE])
        return list(cursor.fetchall())


def _look(vault_id: UUID, one: Periodic) -> bool:
    """Work out when it is due, and enqueue it if that has come; whether it was."""
    try:
        access = system_access(vault_id, f"schedule-{one.kind}")
        with transaction.atomic():
            return _enqueue_due(WriteContext.of(access), one)
    except HubError as error:
        log.warning("schedule_failed", vault_id=str(vault_id), kind=one.kind, error=error.code)
        later = {"due_at": now() + TRY_AGAIN, "config_version": config_version(vault_id)}
        Schedule.objects.update_or_create(vault_id=vault_id, kind=one.kind.value, defaults=later)
        return False


def _enqueue_due(context: WriteContext, one: Periodic) -> bool:
    access, at = context.access, now()
    fresh = Schedule(vault_id=access.vault_id, kind=one.kind.value, last_at=access.vault.created_at, config_version=-1)
    Schedule.objects.bulk_create([fresh], ignore_conflicts=True)
    # Two sweepers may look at once: the second passes by.
    schedules = Schedule.objects.select_for_update(skip_locked=True)
    schedule = schedules.filter(vault_id=access.vault_id, kind=one.kind).first()
    if schedule is None:
        return False
    schedule.config_version, schedule.due_at = context.config_version, _due(context, one, schedule.last_at)
    is_due = schedule.due_at is not None and schedule.due_at <= at
    if is_due:
        schedule.last_at = at
        schedule.due_at = _due(context, one, at)
    schedule.save(update_fields=["last_at", "due_at", "config_version"])
    if not is_due or not one.has_work(access):
        return False
    enqueue_job(access.vault_id, one.kind, dedupe_key="schedule")
    return True


def _due(context: WriteContext, one: Periodic, last: dt.datetime) -> dt.datetime | None:
    if one.switch is not None and not _is_on(context, one.switch):
        return None
    hours = context.settings[one.hours] if isinstance(one.hours, str) else one.hours
    hour = context.settings[one.hour] if isinstance(one.hour, str) else one.hour
    return due_after(last, Rhythm(dt.timedelta(hours=hours), hour))


def _is_on(context: WriteContext, switch: str) -> bool:
    """For the vault, or for a bank that differs from it (CFG-01)."""
    banks = remembered_banks(context.access.vault_id, context.config_version)
    return context.settings[switch] or any(context.settings_in(bank.pk)[switch] for bank in banks)


_TO_LOOK_AT = """
    SELECT vault.id, wanted.kind
    FROM banks_vault vault CROSS JOIN unnest(%s::text[]) AS wanted(kind)
    LEFT JOIN memories_schedule known ON known.vault_id = vault.id AND known.kind = wanted.kind
    WHERE known.id IS NULL OR known.due_at <= %s OR known.config_version <> vault.config_version
    ORDER BY known.due_at NULLS FIRST LIMIT %s
"""
