"""How much makes room when a limit is reached, and what never does (PRN-02, 06, 08, CON-12, CON-13, DEF-09, DEF-20)."""

from __future__ import annotations

from memories.rules.vocabulary import MemoryType

#: Dropping one of these first would cost most; a limit that only these are left for is passed over (PRN-12).
RESERVED = (MemoryType.CONSTRAINT, MemoryType.CORRECTION)


def how_many(current: int, limit: int | None, batch: int) -> int:
    """How many memories to archive so that ``current`` fits ``limit``.

    At least ``batch`` at a time, so that not every write pays for it, but at most a tenth of the limit beyond what is
    needed: a small limit must not empty the store.
    """
    if limit is None or current <= limit:
        return 0
    return max(current - limit, min(batch, limit // 10))
