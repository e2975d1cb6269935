"""What is known of the vectors of one memory: their spaces, sizes and lengths, never the vectors themselves."""

from __future__ import annotations

from dataclasses import dataclass

from banks.access import Access, KeyScope
from memories.models import Memory
from memoryhub.lib.statements import fetch


@dataclass(frozen=True, slots=True)
class VectorFacts:
    """One unit's vector in one space; ``in_graph`` when the vault's own index has it, else it is scanned exactly."""

    unit: int
    provider: str
    model: str
    dimensions: int
    norm: float
    is_active: bool
    in_graph: bool


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """The vectors, and the units and different words of the keyword index."""

    vectors: list[VectorFacts]
    units: int
    words: int


def read_vectors(access: Access, memory: Memory) -> IndexFacts:
    """For a memory the caller has read. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    named = {"vault": access.vault_id, "id": memory.pk}
    vectors = [VectorFacts(*row) for row in fetch(_VECTORS, named)]
    ((units, words),) = fetch(_WORDS, named)
    return IndexFacts(vectors, units, words)


_VECTORS = """
SELECT e.unit::int, s.provider, s.model, s.dimensions, round((l2_norm(e.vector))::numeric, 3)::float8,
       coalesce(v.is_active, false), coalesce(v.has_graph, false) AND NOT e.in_tail
  FROM memories_embedding e JOIN memories_embeddingspace s ON s.id = e.space_id
  LEFT JOIN memories_vaultspace v ON v.vault_id = e.vault_id AND v.space_id = e.space_id
 WHERE e.vault_id = %(vault)s AND e.memory_id = %(id)s ORDER BY 6 DESC, 2, 3, 1 LIMIT 50
"""
_WORDS = """
SELECT count(*)::int, coalesce(sum(cardinality(terms)), 0)::int FROM memories_memoryindex
 WHERE vault_id = %(vault)s AND memory_id = %(id)s
"""
