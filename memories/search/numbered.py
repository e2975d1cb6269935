"""Pages by number, for programs that know no cursors."""

from __future__ import annotations

from banks.access import Access
from memories.rules import limits
from memories.rules.filters import MemoryFilter
from memories.search.listing import MemoryPage, list_memories


def list_numbered(access: Access, wanted: MemoryFilter, number: int, size: int) -> MemoryPage:
    """Page ``number`` from 1, newest first, walked to by cursors. Needs memories:read. Raises as listing does."""
    before, cursor = (number - 1) * size, None
    while before:
        passed = list_memories(access, wanted, limit=min(before, limits.PAGE_MAX), cursor=cursor)
        before, cursor = before - len(passed.items), passed.next_cursor
        if cursor is None:
            return MemoryPage([], None, None, passed.total)
    return list_memories(access, wanted, limit=size, cursor=cursor)
