"""Lists: filters by AND, pages that neither repeat nor lose a row, forward and back, while others write."""

from __future__ import annotations

import datetime as dt
from typing import Any
from uuid import UUID

import pytest

from memories.models import Memory
from memories.rules.filters import MemoryFilter, Sort
from memories.search.listing import list_memories
from memoryhub.lib.clock import now
from memoryhub.lib.pagination import CursorInvalid, CursorMismatch
from tests.factories import remember

START = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
EVERYTHING = MemoryFilter()


def many(access, count: int = 23) -> None:
    """Memories with equal times and scores among them, so that ties must be settled."""
    for n in range(count):
        memory = remember(access, f"number {n}", importance=1 + n % 3)
        moment = START + dt.timedelta(days=n // 4)
        Memory.objects.filter(pk=memory.pk).update(created_at=moment, updated_at=moment)


def walk(access, sort: Sort, limit: int, meanwhile=lambda: None) -> list[list[UUID]]:
    """Every page forward, as ids."""
    pages, cursor = [], None
    while True:
        page = list_memories(access, EVERYTHING, sort, limit, cursor)
        pages.append([row.pk for row in page.items])
        if page.next_cursor is None:
            return pages
        cursor = page.next_cursor
        meanwhile()


def sorted_ids(sort: Sort) -> list[UUID]:
    column = sort.value.lstrip("-")
    rows = [(getattr(row, column), row.pk) for row in Memory.objects.all()]
    return [pk for _, pk in sorted(rows, reverse=sort.value.startswith("-"))]


@pytest.mark.parametrize("sort", Sort)
@pytest.mark.parametrize("limit", [1, 5, 23, 50])
def test_pages_hold_every_row_once_and_in_order(access, sort, limit):
    """API-17: in each order, with ties, whatever the size of a page."""
    many(access)
    pages = walk(access, sort, limit)
    assert [pk for page in pages for pk in page] == sorted_ids(sort)
    assert all(len(page) == limit for page in pages[:-1])


@pytest.mark.parametrize("sort", Sort)
def test_the_way_back_is_the_way_there(access, sort):
    """API-17: prev_cursor leads to the same pages; the ends have no cursor."""
    many(access)
    pages = walk(access, sort, 5)
    page = list_memories(access, EVERYTHING, sort, 5)
    assert page.prev_cursor is None
    for expected in pages[1:]:
        page = list_memories(access, EVERYTHING, sort, 5, page.next_cursor)
        assert [row.pk for row in page.items] == expected
    assert page.next_cursor is None
    for expected in reversed(pages[:-1]):
        page = list_memories(access, EVERYTHING, sort, 5, page.prev_cursor)
        assert [row.pk for row in page.items] == expected
        assert page.next_cursor is not None
    assert page.prev_cursor is None


@pytest.mark.parametrize("sort", [Sort.NEWEST, Sort.OLDEST])
def test_pages_stand_still_while_others_write(access, sort):
    """API-17: what was there at the start comes exactly once, whatever is added or archived meanwhile."""
    many(access)
    there = sorted_ids(sort)
    gone = there[-1]

    def meanwhile() -> None:
        remember(access, f"new at {now()}")
        Memory.objects.filter(pk=gone).update(archived_at=now())

    shown = [pk for page in walk(access, sort, 4, meanwhile) for pk in page]
    assert len(shown) == len(set(shown))
    assert [pk for pk in shown if pk in there] == there[:-1]


def test_the_total_counts_what_matches(access):
    """API-17: on every page, whatever the limit."""
    many(access)
    page = list_memories(access, MemoryFilter(min_importance=3), limit=2)
    assert (len(page.items), page.total) == (2, 7)
    assert list_memories(access, MemoryFilter(min_importance=3), limit=2, cursor=page.next_cursor).total == 7


def test_a_cursor_belongs_to_its_query(access, other_access):
    """API-17: with other filters, another order, another vault or a scratch it is refused."""
    many(access, 6)
    cursor = list_memories(access, EVERYTHING, limit=2).next_cursor
    assert cursor is not None
    for caller, wanted, sort in [
        (access, MemoryFilter(min_importance=2), Sort.NEWEST),
        (access, EVERYTHING, Sort.OLDEST),
        (other_access, EVERYTHING, Sort.NEWEST),
    ]:
        with pytest.raises(CursorMismatch):
            list_memories(caller, wanted, sort, 2, cursor)
    for scratched in (cursor[:-2], f"{cursor}AA", "x", "é", "A" * 5_000, cursor.swapcase()):
        with pytest.raises(CursorInvalid):
            list_memories(access, EVERYTHING, Sort.NEWEST, 2, scratched)


def test_by_default_what_is_recallable_is_shown(access):
    """DESIGN §8: accepted, not archived, not expired, not superseded."""
    shown = remember(access, "plain")
    hidden: list[dict[str, Any]] = [
        {"status": "draft"},
        {"status": "discard"},
        {"archived_at": now()},
        {"expires_at": now()},
        {"superseded_by": shown},
    ]
    for n, values in enumerate(hidden):
        Memory.objects.filter(pk=remember(access, f"hidden {n}").pk).update(**values)
    assert [row.pk for row in list_memories(access, EVERYTHING).items] == [shown.pk]
    assert list_memories(access, MemoryFilter.parse({"archived": "any", "status": "any"})).total == 6


@pytest.mark.parametrize("text", ["zeppelin", "ZEPPELINS", "zeppelin oslo", "  zeppelin  "])
def test_words_are_found_whole(access, text):
    """UI-02: every word must be there; stems and case do not matter."""
    hit = remember(access, "The zeppelin is in Oslo.")
    remember(access, "A zeppelinlike thing is in Bergen.")
    assert [row.pk for row in list_memories(access, MemoryFilter(q=text)).items] == [hit.pk]
    assert list_memories(access, MemoryFilter(q="zeppelin bergen")).total == 0


def test_banks_and_their_labels_come_in_a_fixed_number_of_queries(access, django_assert_max_num_queries):
    """UI-02: a page of fifty costs no more than a page of one."""
    many(access, 12)
    with django_assert_max_num_queries(3):
        page = list_memories(access, EVERYTHING)
        assert {row.bank.name for row in page.items} == {"General"}
