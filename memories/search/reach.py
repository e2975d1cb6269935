"""Which memories a caller may know of, so that what was made of others is not shown to it (BNK-02, CON-25)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

from banks.access import Access
from memories.models import Memory

#: So many ids go into one statement.
_AT_ONCE = 5_000


def known_to(access: Access, memory_ids: Iterable[UUID]) -> frozenset[UUID]:
    """Those of the ids that the caller could look up, whatever their status. One statement for 5,000."""
    ids = sorted(set(memory_ids))
    found: set[UUID] = set()
    for start in range(0, len(ids), _AT_ONCE):
        rows = Memory.objects.visible_to(access).filter(pk__in=ids[start : start + _AT_ONCE])
        found.update(rows.values_list("pk", flat=True))
    return frozenset(found)


def within(memory_ids: Collection[UUID], known: frozenset[UUID]) -> bool:
    """Whether everything something came from is known; what came from nothing named is not."""
    return bool(memory_ids) and known.issuperset(memory_ids)
