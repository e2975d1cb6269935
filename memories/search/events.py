"""The stream of events: what listeners may hear, in order, from a place they can come back to (EVT-05, EVT-07, CON-27).

Changes are read from the audit, everything else from ``Event``; both number their rows by one sequence. Only what is
complete is shown (see ``horizon``), so whoever goes on from ``next`` misses nothing and hears nothing twice.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from banks.access import Access, Actor, KeyScope
from banks.models import AuditEntry
from memories.events import EventType
from memories.models import Event, Memory, MemoryAccess
from memories.models.effective import effective_settings
from memories.rules.happenings import families, family, named
from memories.search.horizon import horizon
from memoryhub.lib.clock import now
from memoryhub.lib.errors import FieldError, HubError, Invalid, Kind

#: What a caller needs to hear of each family.
SCOPES = {
    "memory": KeyScope.MEMORIES_READ,
    "cleanup": KeyScope.CLEANUP_PLAN,
    "job": KeyScope.OPS_READ,
    "guard": KeyScope.OPS_READ,
    "key": KeyScope.KEYS_ADMIN,
}
LATEST = "now"
#: Rows looked at for one page: what is filtered out is not looked for without end.
LOOKED_AT = 5_000
#: As many of the memories a search gave out are named.
GIVEN = 20
#: Seconds to wait for writers that are just about to commit.
PATIENCE = 0.1
_COLUMNS = ("id", "at", "event", "actor_kind", "actor_id", "target_kind", "target_id", "request_id")
_OF_CHANGES = (*_COLUMNS, "version_before", "version_after", "changeset_id", "bank_id", "left_bank_id")
_OF_BANKS = ("bank_id", "left_bank_id")
_NAMES = {"api_key": "key", "cleanup_plan": "plan"}


class EventsGone(HubError):
    """Events after that one are no longer kept; read the state anew, then go on with `after=now` or without `after`."""

    code = "events_gone"
    kind = Kind.GONE


@dataclass(frozen=True, slots=True)
class EventQuery:
    """Which events: after a number, or ``now`` for those to come; of these types (``memory.*`` works), or all."""

    after: str | None = None
    types: tuple[str, ...] = ()
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Heard:
    """One event; ``data`` holds ids, names of the hub's own, and numbers."""

    id: int
    at: dt.datetime
    type: str
    actor: Actor
    request_id: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events, oldest first. ``next`` goes on after all that was looked at; ``more``: there is something to look at."""

    items: list[Heard]
    next: int
    more: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of either table; ``banks``: of a shared memory, where it was after the change and what it left."""

    heard: Heard
    memory_id: UUID | None
    banks: Mapping[str, UUID]


def list_events(access: Access, wanted: EventQuery) -> EventPage:
    """What happened after a place in the stream, as far as this caller may know. Raises Invalid, MissingScope,
    EventsGone.
    """
    types = audible(access, wanted.types)
    sight = horizon.settled(PATIENCE)
    if wanted.after == LATEST:
        return EventPage([], sight.complete)
    kept_from = now() - dt.timedelta(days=effective_settings(access)["events_days"].value)
    if wanted.after is None:
        after = _before(access.vault_id, kept_from, sight.complete)
    else:
        after = int(wanted.after)
        _refuse_gone(access.vault_id, after, kept_from, sight.drawn)
    through, more = _reach(access.vault_id, after, sight.complete)
    rows = _read_stream(access.vault_id, types, (after, through), wanted.limit + 1)
    if len(rows) > wanted.limit:
        rows = rows[: wanted.limit]
        through, more = rows[-1].heard.id, True
    return EventPage(_visible(access, rows), through, more)


def read_events(access: Access, numbers: Sequence[int]) -> dict[int, Heard]:
    """Events by their numbers, as far as this caller may know of them now; what is gone is left out."""
    which = {"vault_id": access.vault_id, "id__in": numbers}
    changes = AuditEntry.objects.filter(**which).exclude(event="").values(*_OF_CHANGES)
    others = Event.objects.filter(**which).values(*_COLUMNS, "data")
    rows = [_row(each, _said_of(each)) for each in changes] + [_row(each, each["data"]) for each in others]
    return {one.id: one for one in _visible(access, rows)}


def audible(access: Access, wanted: Sequence[str]) -> frozenset[EventType]:
    """The types meant, all the caller may hear by default. Raises Invalid naming the known types, MissingScope."""
    types, unknown = named(wanted)
    if unknown:
        known = ", ".join(EventType)
        errors = [FieldError("/types", "unknown_type", f"{one[:64]!r} is not one of {known}") for one in unknown]
        raise Invalid(errors=errors)
    if wanted:
        access.require(*sorted({SCOPES[one] for one in families(types)}))
        return types
    heard = frozenset(one for one in EventType if access.has(SCOPES[family(one)]))
    if not heard:
        access.require(KeyScope.MEMORIES_READ)
    return heard


def _refuse_gone(vault_id: UUID, after: int, kept_from: dt.datetime, drawn: int) -> None:
    if after > drawn:
        raise EventsGone(
            "This hub was restored from an earlier state; read everything anew, then go on without `after`."
        )
    for model in (AuditEntry, Event):
        following = model.objects.filter(vault_id=vault_id, id__gt=after).exclude(event="").order_by("id")
        first = following.values_list("at", flat=True).first()
        if first is not None and first < kept_from:
            raise EventsGone


def _before(vault_id: UUID, moment: dt.datetime, through: int) -> int:
    """A number all events since ``moment`` come after: numbers grow with time, so it is found by halving."""
    low, high = -1, through
    while high - low > 1:
        middle = (low + high) // 2
        following = AuditEntry.objects.filter(vault_id=vault_id, id__gt=middle, id__lte=high).order_by("id")
        at = following.values_list("at", flat=True).first()
        if at is None or at >= moment:
            high = middle
        else:
            low = middle
    return high


def _reach(vault_id: UUID, after: int, complete: int) -> tuple[int, bool]:
    """How far to look for one page, and whether there is something beyond."""
    ends = []
    for model in (AuditEntry, Event):
        rows = model.objects.filter(vault_id=vault_id, id__gt=after, id__lte=complete).order_by("id")
        ends += list(rows.values_list("id", flat=True)[LOOKED_AT - 1 : LOOKED_AT])
    return (min(ends), True) if ends else (max(after, complete), False)


def _read_stream(vault_id: UUID, types: frozenset[EventType], between: tuple[int, int], limit: int) -> list[_Row]:
    """Events of some types after the first number up to the second, whoever may hear of them; at most so many."""
    span = {"vault_id": vault_id, "id__gt": between[0], "id__lte": between[1], "event__in": sorted(types)}
    changes = AuditEntry.objects.filter(**span).order_by("id").values(*_OF_CHANGES)[:limit]
    others = Event.objects.filter(**span).order_by("id").values(*_COLUMNS, "data")[:limit]
    rows = [_row(each, _said_of(each)) for each in changes] + [_row(each, each["data"]) for each in others]
    return sorted(rows, key=lambda row: row.heard.id)[:limit]


def _row(values: Mapping[str, Any], more: Mapping[str, Any]) -> _Row:
    kind, target = values["target_kind"], values["target_id"]
    data = dict(more) if target is None else {f"{_NAMES.get(kind, kind)}_id": str(target), **more}
    actor = Actor(values["actor_kind"], values["actor_id"], "")
    heard = Heard(values["id"], values["at"], values["event"], actor, values["request_id"], data)
    banks = {name: one for name in _OF_BANKS if (one := values.get(name)) is not None}
    return _Row(heard, target if kind == "memory" else None, banks)


def _said_of(change: Mapping[str, Any]) -> dict[str, Any]:
    """Versions and the ids beside that of the target, where there are any."""
    version = change["version_after"] or change["version_before"]
    said = {"version": version, **{name: change[name] for name in (*_OF_BANKS, "changeset_id")}}
    return {name: value if name == "version" else str(value) for name, value in said.items() if value is not None}


def _visible(access: Access, rows: Sequence[_Row]) -> list[Heard]:
    """What this caller may know: of memories those it sees, of everything else its own acts or the whole vault's.

    Of a shared memory whoever reaches the bank it was in then, or the one it left, hears, wherever it is now: so a copy
    kept by events never keeps what was taken away. An agent's own was nobody else's.
    """
    given = _given_out(rows)
    if access.bank_ids is None and access.agent is None:
        return [_told(row.heard, given) for row in rows]
    ids = {one for ids in given.values() for one in ids} | {row.memory_id for row in rows if row.memory_id}
    seen = set(Memory.objects.visible_to(access).filter(pk__in=ids).values_list("pk", flat=True))
    given = {lookup_id: [one for one in ids if one in seen] for lookup_id, ids in given.items()}
    return [_told(_within_reach(access, row), given) for row in rows if _may_hear(access, row, seen)]


def _within_reach(access: Access, row: _Row) -> Heard:
    """Without the ids of banks this caller does not reach."""
    hidden = {name for name, bank_id in row.banks.items() if not access.may_use_bank(bank_id)}
    return replace(row.heard, data={name: one for name, one in row.heard.data.items() if name not in hidden})


def _may_hear(access: Access, row: _Row, seen: set[UUID]) -> bool:
    actor = row.heard.actor
    if row.memory_id is None:
        return access.reaches_whole_vault or (actor.kind, actor.id) == (access.actor.kind, access.actor.id)
    isolated = access.agent is not None and access.agent.is_isolated
    if isolated or not row.banks:
        return row.memory_id in seen
    return any(map(access.may_use_bank, row.banks.values()))


def _given_out(rows: Sequence[_Row]) -> dict[str, list[UUID]]:
    """Lookup → the first memories it gave out, from the access log: what was erased since is not named."""
    lookups = [row.heard.data["lookup_id"] for row in rows if row.heard.type == EventType.MEMORY_SEARCHED]
    given: dict[str, list[UUID]] = defaultdict(list)
    if lookups:
        found = MemoryAccess.objects.filter(lookup_id__in=lookups, rank__lte=GIVEN).order_by("rank")
        for lookup_id, memory_id in found.values_list("lookup_id", "memory_id"):
            given[str(lookup_id)].append(memory_id)
    return given


def _told(heard: Heard, given: Mapping[str, Sequence[UUID]]) -> Heard:
    if heard.type != EventType.MEMORY_SEARCHED:
        return heard
    ids = given.get(heard.data["lookup_id"], ())
    return replace(heard, data={**heard.data, "memory_ids": [str(one) for one in ids]})
