"""Is everything that should be found in the index? A few set-based questions, nothing is opened (CON-06, DEG-05)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection

from banks.access import Access
from memories.index.postings import CHUNK
from memories.models import VaultSpace
from memories.models.retrieval import INDEX_VERSION
from memories.services.context import WriteContext


@dataclass(frozen=True, slots=True)
class Gaps:
    """Memories that cannot be found by their words, those that cannot by their meaning, chunks that do not add up."""

    words: int = 0
    vectors: int = 0
    chunks: int = 0

    def __bool__(self) -> bool:
        return bool(self.words or self.vectors or self.chunks)


def find_gaps(access: Access) -> Gaps:
    """What of the vault's memories the index lacks. Vectors that wait for a job, or were given up, are no gaps."""
    context = WriteContext.of(access)
    named = {"vault": access.vault_id, "version": INDEX_VERSION, "chunk": CHUNK}
    words = chunks = vectors = 0
    if context.settings["keyword_index"]:
        words, chunks = _count(_WORDS, named), _count(_CHUNKS, named)
    place = VaultSpace.objects.filter(vault_id=access.vault_id, is_active=True).first()
    if context.wants_vectors and place is not None:
        vectors = _count(_VECTORS, named | {"space": place.space_id})
    return Gaps(words, vectors, chunks)


def has_gaps(access: Access) -> bool:
    """Whether there is anything to repair."""
    return bool(find_gaps(access))


def _count(statement: str, named: Mapping[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, named)
        return int(cursor.fetchone()[0])


_WORDS = """
    SELECT count(*) FROM memories_memory m WHERE m.vault_id = %(vault)s AND NOT EXISTS (
        SELECT 1 FROM memories_memoryindex i WHERE i.memory_id = m.id AND i.index_version = %(version)s
    )
"""
_VECTORS = """
    SELECT count(*) FROM memories_memory m
    WHERE m.vault_id = %(vault)s AND m.index_state IN ('ready', 'off') AND NOT EXISTS (
        SELECT 1 FROM memories_embedding e WHERE e.memory_id = m.id AND e.space_id = %(space)s
    )
"""
_CHUNKS = """
    SELECT count(*) FROM (
        SELECT doc_no / %(chunk)s AS chunk, count(*) AS documents, sum(doc_len) AS total_length
        FROM memories_memoryindex WHERE vault_id = %(vault)s AND is_compacted GROUP BY 1
    ) AS there FULL JOIN (
        SELECT chunk, documents, total_length FROM memories_postingchunk
        WHERE vault_id = %(vault)s AND documents <> 0
    ) AS said USING (chunk)
    WHERE there.documents IS DISTINCT FROM said.documents OR there.total_length IS DISTINCT FROM said.total_length
"""
