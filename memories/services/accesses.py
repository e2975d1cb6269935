"""What was given out, noted beside the requests: when a memory was last needed, how often, by whom, for what (PRN-07).

A request only hands the note over. One thread of each web process writes them down together, in commits that do not
wait for the disk, skipping rows that somebody else is changing. A process that is killed takes its last notes along:
they are statistics, and no answer ever waits for them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

import structlog
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models import OuterRef, Subquery

from banks.access import Access, Actor, system_access
from banks.models import Vault
from memories.events import EventType
from memories.models import Happened, Lookup, Memory, MemoryAccess, record_events
from memories.models.effective import config_version, remembered_settings
from memories.rules.vocabulary import AccessPurpose
from memories.services.tallies import tally_recalls
from memoryhub.lib.backlog import Backlog
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError
from memoryhub.lib.metrics import ACCESSES_LOST
from memoryhub.lib.sealing import gate

#: A memory counts as needed once in this time, however often it is given out.
COUNTED_EVERY = dt.timedelta(minutes=1)
WRITTEN_EVERY = 1.0
#: With ten memories each: what one process writes in a round, and how much of a burst it remembers meanwhile.
ROUND, WAITING = 100, 5_000
TRIMMED_AT_ONCE = 2_000
_LEAST_KEPT = dt.timedelta(days=1)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Note:
    vault_id: UUID
    actor: Actor
    agent_id: str | None
    purpose: AccessPurpose
    query: str | None
    ids: tuple[UUID, ...]
    scores: tuple[float, ...]
    at: dt.datetime

    @property
    def sameness(self) -> int:
        """Notes that share it say the same."""
        return hash((self.vault_id, self.actor.id, self.purpose, self.query, self.ids))


def record_accesses(
    access: Access,
    ids: Sequence[UUID],
    purpose: AccessPurpose,
    query: str | None = None,
    scores: Sequence[float] = (),
) -> None:
    """Note that the caller was given these memories, best first; returns at once and never fails (PRN-07, INJ-04).

    A search that found nothing is noted too: listeners hear of it (EVT-02).
    """
    if ids or purpose is AccessPurpose.SEARCH:
        note = _Note(
            vault_id=access.vault_id,
            actor=access.actor,
            agent_id=access.agent_id,
            purpose=purpose,
            query=query,
            ids=tuple(ids),
            scores=tuple(scores),
            at=now(),
        )
        _backlog.add(note)


def start_recording() -> None:
    """Write notes down in the background from now on, and the last ones when the process ends."""
    _backlog.start(WRITTEN_EVERY)


def flush_accesses() -> None:
    """Write down, before returning, whatever is waiting in this process."""
    _backlog.flush()


def forget_accesses(access: Access, memory_ids: Collection[UUID]) -> int:
    """Delete memories' log, and every question they were given out for; how many entries. Part of erasing them."""
    mine = MemoryAccess.objects.filter(vault_id=access.vault_id, memory_id__in=memory_ids)
    Lookup.objects.filter(vault_id=access.vault_id, pk__in=mine.values("lookup_id")).update(query=None)
    return mine.delete()[0]


def trim_access_log() -> int:
    """Delete what is older than its vault keeps, oldest first, a bounded part each time; how many lookups."""
    at = now()
    oldest = Lookup.objects.filter(vault_id=OuterRef("pk")).order_by("at").values("at")[:1]
    due = (
        Vault.objects.annotate(oldest=Subquery(oldest)).filter(oldest__lt=at - _LEAST_KEPT).values_list("pk", flat=True)
    )
    trimmed = 0
    for vault_id in due:
        with gate.session():
            kept = dt.timedelta(days=_settings(system_access(vault_id))["access_log_days"])
        rows = Lookup.objects.filter(vault_id=vault_id, at__lt=at - kept).order_by("at")
        old = list(rows.values_list("pk", flat=True)[:TRIMMED_AT_ONCE])
        Lookup.objects.filter(pk__in=old).delete()
        trimmed += len(old)
    return trimmed


def _settings(access: Access) -> Mapping[str, Any]:
    return remembered_settings(access, config_version(access.vault_id))


def _write_down(notes: Sequence[_Note]) -> None:
    """Each vault's notes in a transaction of their own; what cannot be written now is lost, and counted."""
    fresh = sorted(_without_repeats(notes), key=lambda note: note.vault_id)
    for vault_id, of_vault in groupby(fresh, lambda note: note.vault_id):
        mine = list(of_vault)
        try:
            with gate.session():
                _write_vault(system_access(vault_id), mine)
        except (DatabaseError, InterfaceError, HubError) as error:
            ACCESSES_LOST.labels("failed").inc(len(mine))
            log.warning("accesses_not_recorded", count=len(mine), error=type(error).__name__)


_backlog = Backlog(_write_down, ACCESSES_LOST.labels("overflow").inc, capacity=WAITING, bulk=ROUND)
#: What was said in the last minute, and when; only the one thread that writes looks at it.
_said: dict[int, dt.datetime] = {}


def _without_repeats(notes: Sequence[_Note]) -> list[_Note]:
    """Those that say something new: somebody who asks the same in a loop is one line a minute."""
    fresh = []
    for note in notes:
        last = _said.get(note.sameness)
        if last is None or abs(note.at - last) >= COUNTED_EVERY:
            _said[note.sameness] = note.at
            fresh.append(note)
    newest = max(_said.values(), default=now())
    for sameness in [each for each, at in _said.items() if newest - at >= COUNTED_EVERY]:
        del _said[sameness]
    return fresh


def _write_vault(access: Access, notes: Sequence[_Note]) -> None:
    settings = _settings(access)
    ids = {memory_id for note in notes for memory_id in note.ids}
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '500ms', true)"
            )
        lookups = [_lookup(access, note) for note in notes]
        if settings["access_log_days"] and settings["access_log_entries"]:
            _log(access, list(zip(lookups, notes, strict=True)), ids)
            _keep_newest(sorted(ids), settings["access_log_entries"])
        searches = [_told(one) for one in lookups if one.purpose == AccessPurpose.SEARCH]
        record_events(access.vault_id, *searches)
        tally_recalls(access, [memory_id for note in notes for memory_id in note.ids], notes[0].at)
        _stamp(access, sorted(ids), max(note.at for note in notes))  # last: its locks are held shortest


def _stamp(access: Access, ids: list[UUID], at: dt.datetime) -> None:
    """Neither version nor updated_at: being read is no change. A row that is locked is being changed: it can wait."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memories_memory SET last_accessed_at = %s, access_count = access_count + 1 "
            "FROM (SELECT id FROM memories_memory WHERE vault_id = %s AND id = ANY(%s)"
            " AND (last_accessed_at IS NULL OR last_accessed_at <= %s) FOR NO KEY UPDATE SKIP LOCKED) AS due "
            "WHERE memories_memory.id = due.id",
            [at, access.vault_id, ids, at - COUNTED_EVERY],
        )


def _lookup(access: Access, note: _Note) -> Lookup:
    return Lookup(
        vault_id=access.vault_id,
        purpose=note.purpose.value,
        actor_kind=note.actor.kind,
        actor_id=note.actor.id,
        agent_id=note.agent_id,
        at=note.at,
    )


def _log(access: Access, noted: Sequence[tuple[Lookup, _Note]], ids: set[UUID]) -> None:
    """A question about something that is gone meanwhile is not kept: erasing may have been meant for it too."""
    there = set(Memory.objects.in_vault(access.vault_id).filter(pk__in=ids).values_list("pk", flat=True))
    lookups: list[Lookup] = []
    accesses: list[MemoryAccess] = []
    for lookup, note in noted:
        lookup.query = note.query if there.issuperset(note.ids) else None
        mine = [each for each in _accesses(lookup, note) if each.memory_id in there]
        lookups += [lookup] if mine else []
        accesses += mine
    insert_rows(lookups)
    insert_rows(accesses)


def _told(lookup: Lookup) -> Happened:
    """Listeners hear of a search; what it gave out is in the log, and goes from there when it is erased."""
    return Happened(EventType.MEMORY_SEARCHED, "lookup", lookup.pk, actor=Actor(lookup.actor_kind, lookup.actor_id, ""))


def _accesses(lookup: Lookup, note: _Note) -> list[MemoryAccess]:
    ranked = note.purpose != AccessPurpose.READ
    scores = note.scores or (None,) * len(note.ids)
    return [
        MemoryAccess(
            vault_id=note.vault_id,
            memory_id=memory_id,
            lookup_id=lookup.pk,
            rank=rank if ranked else None,
            score=score,
        )
        for rank, (memory_id, score) in enumerate(zip(note.ids, scores, strict=True), start=1)
    ]


def _keep_newest(ids: list[UUID], count: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM memories_memoryaccess AS old USING unnest(%s::uuid[]) AS given(id), LATERAL ("
            " SELECT lookup_id FROM memories_memoryaccess WHERE memory_id = given.id"
            " ORDER BY lookup_id DESC OFFSET %s LIMIT 1) AS edge "
            "WHERE old.memory_id = given.id AND old.lookup_id <= edge.lookup_id",
            [ids, count],
        )
