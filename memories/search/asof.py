"""Answers from what was valid at an earlier moment: which memories those were, and what they said then.

The first revision made after the moment holds what the memory was at it; a memory without one is as it was. Revisions
are sealed, so those are opened here, and SQL is told which memories pass. What ranks is today's index.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import and_
from typing import Any
from uuid import UUID

import structlog
from django.db.models import Max, Q
from django.db.models.expressions import RawSQL

from banks.access import Access
from banks.models import Bank
from banks.services.banks import find_banks
from memories.models import Memory, Revision
from memories.rules.filters import MemoryFilter
from memories.rules.validity import PASSES, State
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.lib.errors import Invalid

log = structlog.get_logger(__name__)

#: So many memories that changed since are looked into: the revision of each must be opened, 0.1 ms a piece.
CHANGED_MAX = 10_000
_MOMENTS = frozenset({"archived_at", "expires_at", "event_at"})
_IDS = frozenset({"bank_id", "superseded_by_id"})
#: Filters on labels that can change, in the order in which a failed one is named.
_CHANGING = ("bank", *PASSES)


class TooMuchChanged(Invalid):
    """Too many memories changed since `as_of` to look into all; narrow it by created_after, agent_id or namespace."""

    code = "too_much_changed"


def conditions_then(access: Access, wanted: MemoryFilter, given: Mapping[str, Q]) -> dict[str, Q]:
    """The conditions as they were at ``wanted.as_of``; ``given`` are those of today, by the name of their filter.

    Those on labels that can change become one, ``then``, so that a statement holds ids twice, however many filters
    there are. Raises TooMuchChanged.
    """
    lasting = {name: condition for name, condition in given.items() if name not in _CHANGING}
    changed = _changed(access, wanted, lasting.values())
    if not changed:
        return dict(given)
    judge = _judge(access, wanted)
    passing = [key for key, state in changed.items() if all(judge(state).values())]
    unchanged = reduce(and_, (given[name] for name in _CHANGING)) & ~_among(changed)
    return {**lasting, "then": unchanged | _among(passing)}


def judged_then(access: Access, wanted: MemoryFilter, memory_id: UUID) -> dict[str, bool]:
    """Filter → whether one memory passed it at ``wanted.as_of``; empty for one that is still as it was."""
    changed = _changed(access, wanted, [Q(pk=memory_id)])
    return _judge(access, wanted)(changed[memory_id]) if memory_id in changed else {}


def as_they_were(access: Access, memories: Iterable[Memory], at: dt.datetime) -> None:
    """Give rows in hand, not to be saved, the content, labels, status and version they had."""
    rows = {row.pk: row for row in memories}
    revisions = Revision.objects.filter(vault_id=access.vault_id, memory_id__in=list(rows))
    before = revisions.filter(created_at__lte=at).values_list("memory_id")
    last_changes = dict(before.annotate(last=Max("created_at")).order_by())
    banks = {bank.pk: bank for bank in Bank.objects.filter(vault_id=access.vault_id)}
    for revision in _first_after(revisions, at):
        row = rows[revision.memory_id]
        row.version, row.updated_at = revision.version, last_changes.get(row.pk, row.created_at)
        then = _opened(revision)
        if then is None:
            row.content = None
            continue
        for name, value in then.items():
            setattr(row, name, _value(name, value))
        row.bank = banks[row.bank_id]


def _changed(access: Access, wanted: MemoryFilter, narrowing: Iterable[Q]) -> dict[UUID, State | None]:
    """Memory → what it was, for those that changed since; None where that does not open any more: it passes nothing."""
    rows = Memory.objects.visible_to(access).order_by()
    for condition in narrowing:
        rows = rows.filter(condition)
    revisions = Revision.objects.filter(vault_id=access.vault_id, memory_id__in=rows.values("pk"))
    first = _first_after(revisions, wanted.as_of).only("vault_id", "memory_id", "version", "before")
    found = list(first[: CHANGED_MAX + 1])
    if len(found) > CHANGED_MAX:
        raise TooMuchChanged
    return {revision.memory_id: _opened(revision) for revision in found}


def _first_after(revisions: Any, at: dt.datetime | None) -> Any:
    return revisions.filter(created_at__gt=at).order_by("memory_id", "version").distinct("memory_id")


def _opened(revision: Revision) -> State | None:
    try:
        return dict(revision.before)
    except (DecryptionError, UnknownKey):
        log.warning("revision_unreadable", memory_id=str(revision.memory_id), version=revision.version)
        return None


def _judge(access: Access, wanted: MemoryFilter) -> Callable[[State | None], dict[str, bool]]:
    """Filter → whether a state passed it. It lay in a bank asked for, and never in one the caller does not reach."""
    banks = {bank.pk for bank in find_banks(access, list(wanted.bank), wanted.banks_pointer)}

    def judge(then: State | None) -> dict[str, bool]:
        if then is None:
            return dict.fromkeys(_CHANGING, False)
        bank_id = UUID(then["bank_id"])
        lay_within = access.may_use_bank(bank_id) and (not banks or bank_id in banks)
        return {"bank": lay_within} | {name: passes(wanted, then) for name, passes in PASSES.items()}

    return judge


def _among(ids: Iterable[UUID]) -> Q:
    # As text: a statement for each leg binds them, and one text binds far quicker than thousands of ids.
    return Q(pk__in=RawSQL("SELECT unnest(%s::text::uuid[])", [f"{{{','.join(map(str, ids))}}}"]))


def _value(name: str, kept: Any) -> Any:
    if kept is None:
        return None
    if name in _MOMENTS:
        return dt.datetime.fromisoformat(kept)
    return UUID(kept) if name in _IDS else kept
