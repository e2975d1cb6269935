"""The semantic leg: nearest vectors in the vault's own space (SRC-02).

Filters come after the nearest vectors where enough of them pass, and before them where not: the result is the same.
Small vaults are scanned exactly. A large one has an HNSW index of its own; what came after it was built waits in a
tail that is scanned exactly beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pgvector import HalfVector

from banks.access import Access
from memories.search.candidates import Allowed, run
from memoryhub.local.addresses import NEAREST_LOOKED_AT


@dataclass(frozen=True, slots=True)
class Nearest:
    """A semantic question: the vector and its space, the least cosine that counts, how many are wanted."""

    space_id: UUID
    vector: Sequence[float]
    floor: float
    limit: int
    has_graph: bool = False


def semantic_leg(access: Access, rows: Allowed, asked: Nearest) -> dict[UUID, float]:
    """Memory → cosine of its best unit, for the nearest ones at or above the floor (SRC-17, DUP-23)."""
    near = _nearest(access, rows, asked)
    found = near.found
    if len(found) < asked.limit and not near.is_all:
        found = _best(run(_FILTER_FIRST, rows, _named(access, asked)))
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[: asked.limit])


@dataclass(frozen=True, slots=True)
class _Near:
    """What passed the filters among the nearest, and whether anything else could still pass the floor."""

    found: dict[UUID, float]
    is_all: bool


def _nearest(access: Access, rows: Allowed, asked: Nearest) -> _Near:
    statement = (_GRAPH if asked.has_graph else _SCAN).replace("<type>", f"halfvec({len(asked.vector)})")
    looked_at = run(statement, rows, _named(access, asked))
    reached = [row for row in looked_at if row[0] is None]
    passing = [row for row in looked_at if row[0] is not None]
    return _Near(_best(passing), is_all=reached[0][1] < NEAREST_LOOKED_AT)


def _best(units: Sequence[tuple[UUID, float]]) -> dict[UUID, float]:
    """A memory counts as its best unit."""
    best: dict[UUID, float] = {}
    for memory_id, cosine in units:
        best[memory_id] = max(cosine, best.get(memory_id, -1.0))
    return best


def _named(access: Access, asked: Nearest) -> dict[str, object]:
    return {
        "vector": HalfVector(list(asked.vector)).to_text(),
        "vault": access.vault_id,
        "space": asked.space_id,
        "prefix": NEAREST_LOOKED_AT,
        "ceiling": 1 - asked.floor,
        # A memory has several units; the factor leaves enough memories after the best unit of each is taken.
        "limit": asked.limit * 4,
    }


# Each statement's extra row says how many vectors passed the floor before the filters.
_PASS = """
    SELECT NULL::uuid, count(*)::float8 FROM near WHERE distance <= %(ceiling)s
    UNION ALL
    SELECT memory_id, 1 - distance FROM near WHERE distance <= %(ceiling)s AND memory_id IN (<allowed>)
"""

_SCAN = f"""
    WITH near AS MATERIALIZED (
        SELECT e.memory_id, e.vector <=> %(vector)s::halfvec AS distance FROM memories_embedding e
        WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s
        ORDER BY e.vector <=> %(vector)s::halfvec LIMIT %(prefix)s
    ) {_PASS}
"""

_GRAPH = f"""
    WITH graph AS MATERIALIZED (
        SELECT e.memory_id, e.vector::<type> <=> %(vector)s::<type> AS distance FROM memories_embedding e
        WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s AND NOT e.in_tail
        ORDER BY e.vector::<type> <=> %(vector)s::<type> LIMIT %(prefix)s
    ), tail AS MATERIALIZED (
        SELECT e.memory_id, e.vector <=> %(vector)s::halfvec AS distance FROM memories_embedding e
        WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s AND e.in_tail
        ORDER BY e.vector <=> %(vector)s::halfvec LIMIT %(prefix)s
    ), near AS (SELECT * FROM graph UNION ALL SELECT * FROM tail ORDER BY distance LIMIT %(prefix)s) {_PASS}
"""

_FILTER_FIRST = """
    SELECT e.memory_id, 1 - (e.vector <=> %(vector)s::halfvec) FROM memories_embedding e
    WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s AND e.memory_id IN (<allowed>)
      AND e.vector <=> %(vector)s::halfvec <= %(ceiling)s
    ORDER BY e.vector <=> %(vector)s::halfvec LIMIT %(limit)s
"""
