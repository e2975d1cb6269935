"""A question about few memories: all that pass its filters are listed first, and the legs look at nothing else.

A filter that leaves one memory in hundreds makes every leg look far down its own order until enough pass: of 100,000
memories one person's 250 took 240 ms to search, and 35 ms with their list at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from banks.access import Access
from memories.search.candidates import Allowed, run
from memoryhub.lib.statements import fetch

#: So many are listed at most; where more pass, the legs find enough of them by themselves.
FEW = 2_000


@dataclass(frozen=True, slots=True)
class Few:
    """Every memory that passes: ``documents`` says whose each keyword document is; one not indexed has none."""

    memories: Sequence[UUID]
    documents: Mapping[int, UUID]


def list_few(access: Access, rows: Allowed) -> Few | None:
    """All that pass, where the filters are of a kind that leaves few and they did (SRC-18)."""
    if not rows.is_narrow:
        return None
    # Planned for its values: how many pass depends on them.
    memories = [memory_id for (memory_id,) in run(_PASSING, rows, {"few": FEW}, prepare=False)]
    if len(memories) > FEW:
        return None
    return Few(memories, dict(fetch(_DOCUMENTS, {"vault": access.vault_id, "memories": memories})))


# One more than is wanted tells that there are too many.
_PASSING = "SELECT memories_memory.id FROM memories_memory WHERE <passes> LIMIT %(few)s::int8 + 1"
_DOCUMENTS = """
    SELECT doc_no, memory_id FROM memories_memoryindex
    WHERE vault_id = %(vault)s AND memory_id = ANY(%(memories)s::uuid[])
"""
