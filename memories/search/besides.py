"""The memories before and after one in a list somebody came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Value

from banks.access import Access, KeyScope
from memories.models import Memory
from memories.rules.filters import MemoryFilter, Sort
from memories.search.filtering import narrowed, understand
from memories.search.listing import beyond, edge


@dataclass(frozen=True, slots=True)
class Besides:
    """Ids of the neighbours; None at the ends."""

    before: UUID | None
    after: UUID | None


def find_besides(access: Access, memory: Memory, wanted: MemoryFilter, sort: Sort) -> Besides:
    """Its neighbours in the list, also where an edit took it out of the list meanwhile. Needs memories:read.

    One statement. Raises Invalid, UnknownBank.
    """
    access.require(KeyScope.MEMORIES_READ)
    rows = narrowed(access, understand(access, wanted).given).order_by()
    column, down = sort.value.lstrip("-"), sort.value.startswith("-")
    here = edge(memory, sort)

    def side(is_after: bool) -> Any:
        falling = down == is_after
        sign = "-" if falling else ""
        nearest = rows.filter(beyond(column, falling, here)).order_by(f"{sign}{column}", f"{sign}id")
        return nearest.annotate(is_after=Value(is_after)).values_list("is_after", "pk")[:1]

    found = dict(side(is_after=False).union(side(is_after=True), all=True).order_by())
    return Besides(found.get(False), found.get(True))
