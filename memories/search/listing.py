"""Lists of memories: filtered, sorted, cut into keyset pages that are stable under inserts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from django.db import OperationalError
from django.db.models import Q

from banks.access import Access, KeyScope
from memories.models import Memory
from memories.models.memory import MemoryQuerySet
from memories.rules.filters import MemoryFilter, Sort
from memories.rules.queryparts import QueryMistake
from memories.search.asof import as_they_were
from memories.search.filtering import Understanding, narrowed, understand
from memories.search.reading import with_relations
from memories.search.survey import Survey, Surveyed, surveyed
from memoryhub.lib.errors import FieldError, Invalid
from memoryhub.lib.pagination import Cursor, decode_cursor, encode_cursor, query_text

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """One page; the cursors are None at the ends. ``total`` counts everything that matches.

    ``mistakes`` are what of the text was left out; the page is by the rest.
    """

    items: list[Memory]
    next_cursor: str | None
    prev_cursor: str | None
    total: int
    mistakes: tuple[QueryMistake, ...] = ()


def list_memories(
    access: Access, wanted: MemoryFilter, sort: Sort = Sort.NEWEST, limit: int = 50, cursor: str | None = None
) -> MemoryPage:
    """A page of the memories that match. Needs memories:read.

    With ``as_of`` they are what they were then, sorted by creation, which does not change.
    Raises UnknownBank, CursorInvalid, CursorMismatch for a cursor of another query, Invalid, TooMuchChanged.
    """
    access.require(KeyScope.MEMORIES_READ)
    order = Order(sort, limit, cursor)
    start = _start(access, wanted, order)
    understood = understand(access, wanted)
    return _listed(access, wanted, understood, order, start)


@dataclass(frozen=True, slots=True)
class Order:
    """Which page, in which order."""

    sort: Sort = Sort.NEWEST
    limit: int = 50
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Browsed:
    """A page and what may be chosen beside it; no ``survey`` when that part failed."""

    page: MemoryPage
    survey: Survey | None
    asked: Understanding


def browse_memories(access: Access, wanted: MemoryFilter, order: Order, what: Surveyed) -> Browsed:
    """A page and the counts beside it, the filters understood once. Needs memories:read.

    What the database will not count in time is left out; the page stands. Raises as ``list_memories`` does.
    """
    access.require(KeyScope.MEMORIES_READ)
    start = _start(access, wanted, order)
    asked = understand(access, wanted)
    survey = None
    try:
        survey = surveyed(access, wanted, asked, what)
    except OperationalError:
        log.warning("counts_failed", exc_info=True)
    page = _listed(access, wanted, asked, order, start, total=survey.total if survey else None)
    return Browsed(page, survey, asked)


def _start(access: Access, wanted: MemoryFilter, order: Order) -> Cursor | None:
    if wanted.as_of is not None and order.sort not in {Sort.NEWEST, Sort.OLDEST}:
        raise Invalid(errors=[FieldError("/sort", "as_of", "must be created_at or -created_at together with as_of")])
    return decode_cursor(order.cursor, _query(access, wanted, order)) if order.cursor else None


def _query(access: Access, wanted: MemoryFilter, order: Order) -> str:
    return query_text(access.vault_id, access.actor.id, wanted.model_dump(mode="json"), order.sort.value)


def _listed(
    access: Access,
    wanted: MemoryFilter,
    asked: Understanding,
    order: Order,
    start: Cursor | None,
    total: int | None = None,
) -> MemoryPage:
    rows = narrowed(access, asked.given)
    page = _page(with_relations(rows), order.sort, order.limit, start)
    if wanted.as_of is not None:
        as_they_were(access, page.rows, wanted.as_of)
    query = _query(access, wanted, order)
    if total is None:
        total = rows.count() if page.rows or start else 0
    return MemoryPage(
        items=page.rows,
        next_cursor=encode_cursor(edge(page.rows[-1], order.sort), query) if page.more_after else None,
        prev_cursor=encode_cursor(edge(page.rows[0], order.sort), query, backward=True) if page.more_before else None,
        total=total,
        mistakes=asked.mistakes,
    )


@dataclass(frozen=True, slots=True)
class _Slice:
    rows: list[Memory]
    more_before: bool
    more_after: bool


def _page(rows: MemoryQuerySet, sort: Sort, limit: int, cursor: Cursor | None) -> _Slice:
    column, descending = sort.value.lstrip("-"), sort.value.startswith("-")
    backward = cursor is not None and cursor.backward
    down = descending != backward
    if cursor is not None:
        rows = rows.filter(beyond(column, down, cursor.position))
    sign = "-" if down else ""
    found = list(rows.order_by(f"{sign}{column}", f"{sign}id")[: limit + 1])
    more, found = len(found) > limit, found[:limit]
    if backward:
        return _Slice(found[::-1], more_before=more, more_after=bool(found))
    return _Slice(found, more_before=cursor is not None and bool(found), more_after=more)


def beyond(column: str, down: bool, position: Sequence[Any]) -> Q:
    """Rows after the edge: the first condition alone lets the index start there, the second settles ties."""
    value = dt.datetime.fromisoformat(position[0]) if isinstance(position[0], str) else position[0]
    edge = UUID(str(position[1]))
    step = "lt" if down else "gt"
    return Q(**{f"{column}__{step}e": value}) & (Q(**{f"{column}__{step}": value}) | Q(**{f"id__{step}": edge}))


def edge(row: Memory, sort: Sort) -> list[str | int]:
    """Where a row stands in this order, as a cursor keeps it."""
    value = getattr(row, sort.value.lstrip("-"))
    return [value.isoformat() if isinstance(value, dt.datetime) else value, str(row.pk)]
