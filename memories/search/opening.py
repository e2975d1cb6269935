"""From ids in an order to memories that can be read: fetched page by page, as far as somebody reads on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from uuid import UUID

import structlog

from banks.access import Access
from memories.models import Memory
from memories.search.asof import as_they_were
from memories.search.reading import memories_by_id
from memoryhub.lib.crypto import DecryptionError, UnknownKey

log = structlog.get_logger(__name__)


def open_in_order(
    access: Access, ids: Sequence[UUID], page: int, broken: list[UUID], at: dt.datetime | None = None
) -> Iterator[tuple[int, Memory]]:
    """Place and memory, with what it said ``at`` a moment; ids must be of memories the caller may see.

    One broken row costs itself, not the answer: its id is added to ``broken`` (ENC-20, DEF-10).
    """
    for start in range(0, len(ids), page):
        rows = memories_by_id(access, ids[start : start + page])
        if at is not None:
            as_they_were(access, rows.values(), at)
        for place in range(start, min(start + page, len(ids))):
            memory = rows.get(ids[place])
            if memory is None:
                continue
            if opens(memory):
                yield place, memory
            else:
                broken.append(ids[place])


def opens(memory: Memory) -> bool:
    """Whether the content can be read."""
    try:
        return memory.content is not None
    except (DecryptionError, UnknownKey):
        log.warning("memory_unreadable", memory_id=str(memory.pk))
        return False
