"""The other memories that a memory names: what it replaced, what replaced it, what it was summarised from."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from banks.access import Access
from memories.models import Memory
from memoryhub.lib.statements import fetch


@dataclass(frozen=True, slots=True)
class Relatives:
    """Ids of other memories; only of those the caller may see (CON-25)."""

    supersedes: UUID | None = None
    superseded_by: UUID | None = None
    summarized_from: tuple[UUID, ...] = ()


NONE = Relatives()


def relatives(access: Access, memories: Iterable[Memory], at: dt.datetime | None = None) -> Mapping[UUID, Relatives]:
    """Memory id → its relatives, or those it had ``at`` a moment that the memories are shown as of.

    At most two queries; none where it was seen with the memories that they have no relatives, as most have not.
    """
    rows = list(memories)
    replaced = _replaced(access, [row.pk for row in rows if row.may_replace], at)
    named = {row.superseded_by_id for row in rows if row.superseded_by_id is not None}
    seen = visible_ids(access, named.union((older for _, older in replaced), *(row.summarized_from for row in rows)))
    latest = {newer: older for newer, older in replaced if older in seen}
    return {
        row.pk: Relatives(
            supersedes=latest.get(row.pk),
            superseded_by=row.superseded_by_id if row.superseded_by_id in seen else None,
            summarized_from=tuple(source for source in row.summarized_from if source in seen),
        )
        for row in rows
    }


def visible_ids(access: Access, ids: Iterable[UUID]) -> set[UUID]:
    """Those of ``ids`` that the caller may know of; asks nothing about none."""
    wanted = set(ids)
    return (
        set(Memory.objects.visible_to(access).filter(pk__in=wanted).values_list("pk", flat=True)) if wanted else set()
    )


def _replaced(access: Access, ids: Sequence[UUID], at: dt.datetime | None) -> list[tuple[UUID, UUID]]:
    """Newer and older memory, oldest first; whether the caller may know of the older one is not asked here.

    Plain SQL because it follows every search, and mostly finds nothing.
    """
    named = {"vault": access.vault_id, "ids": list(ids), "at": at}
    return [(newer, older) for newer, older in fetch(_REPLACED, named)] if ids else []


_REPLACED = """
SELECT superseded_by_id, id FROM memories_memory
 WHERE vault_id = %(vault)s AND superseded_by_id = ANY(%(ids)s::uuid[])
   AND (%(at)s::timestamptz IS NULL OR archived_at <= %(at)s)
 ORDER BY created_at, id
"""
