"""The semantic leg: nearest vectors in the vault's own space (SRC-02).

Filters come after the nearest vectors where enough of them pass, and before them where not: the result is the same,
except that a large vault's index gives up after 20,000 vectors; where few pass it is not asked.
Small vaults are scanned exactly. A large one has an HNSW index of its own; what came after it was built waits in a
tail that is scanned exactly beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from banks.access import Access
from memories.search.candidates import Allowed, run
from memories.search.few import Few
from memoryhub.lib.halves import halfvec_text
from memoryhub.lib.statements import fetch, id_array
from memoryhub.local.addresses import NEAREST_LOOKED_AT

#: Where the filters let no more vectors pass than about so many, those are compared one by one: faster, and exact.
FEW = 10_000


@dataclass(frozen=True, slots=True)
class Nearest:
    """A semantic question: the vector and its space, the least cosine that counts, how many are wanted."""

    space_id: UUID
    vector: Sequence[float] | NDArray[np.float32]
    floor: float
    limit: int
    has_graph: bool = False


def semantic_leg(access: Access, rows: Allowed, asked: Nearest, few: Few | None = None) -> dict[UUID, float]:
    """Memory → cosine of its best unit, for the nearest ones at or above the floor (SRC-17, DUP-23).

    ``few`` are all that pass the filters, where these were listed; they are compared one by one.
    """
    if few is not None:
        return _first(_compared(access, asked, few), asked.limit)
    near = _nearest(access, rows, asked)
    found = near.found
    if len(found) < asked.limit and not near.is_all:
        are_few = not asked.has_graph or near.share * access.vault.next_doc_no <= FEW
        found = _filtered(access, rows, asked, _FILTER_FIRST if are_few else _GRAPH_FILTERED)
    return _first(found, asked.limit)


def _first(found: Mapping[UUID, float], limit: int) -> dict[UUID, float]:
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit])


def _compared(access: Access, asked: Nearest, few: Few) -> dict[UUID, float]:
    named = {**_named(access, asked), "few": id_array(few.memories)}
    return _best([(memory_id, cosine) for memory_id, cosine in fetch(_AMONG, named) if cosine >= asked.floor])


def _filtered(access: Access, rows: Allowed, asked: Nearest, statement: str) -> dict[UUID, float]:
    """The nearest of those that pass: exactly where these are few, else along the vault's index as far as it looks."""
    found = run(statement.replace("<type>", _type(asked)), rows, _named(access, asked), prepare=False)
    return _best([(memory_id, cosine) for memory_id, cosine in found if cosine >= asked.floor])


def _type(asked: Nearest) -> str:
    return f"halfvec({len(asked.vector)})"


@dataclass(frozen=True, slots=True)
class _Near:
    """What passed the filters among the nearest, which share of them, and whether more could still pass the floor."""

    found: dict[UUID, float]
    share: float
    is_all: bool


def _nearest(access: Access, rows: Allowed, asked: Nearest) -> _Near:
    place = {"<type>": _type(asked), "<vault>": f"'{access.vault_id}'", "<space>": f"'{asked.space_id}'"}
    statement = _GRAPH if asked.has_graph else _SCAN
    for name, value in place.items():
        statement = statement.replace(name, value)
    # Kept for a large vault only: there are few of those, and plans for as many as there are small ones.
    prepare = None if asked.has_graph else False
    ((reach, memories, cosines),) = run(statement, rows, _named(access, asked), prepare=prepare)
    passing = list(zip(memories or [], cosines or [], strict=True))
    return _Near(_best(passing), share=len(passing) / max(reach, 1), is_all=reach < NEAREST_LOOKED_AT)


def _best(units: Sequence[tuple[UUID, float]]) -> dict[UUID, float]:
    """A memory counts as its best unit."""
    best: dict[UUID, float] = {}
    for memory_id, cosine in units:
        best[memory_id] = max(cosine, best.get(memory_id, -1.0))
    return best


def _named(access: Access, asked: Nearest) -> dict[str, object]:
    return {
        "vector": halfvec_text(asked.vector),
        "vault": access.vault_id,
        "space": asked.space_id,
        "ceiling": 1 - asked.floor,
        # A memory has several units; the factor leaves enough memories after the best unit of each is taken.
        "limit": asked.limit * (2 if asked.has_graph else 4),
    }


# One row: how many vectors passed the floor before the filters, and what passed those too. Vault and space stand
# in the text, so that a plan that is kept knows whether an index that covers one vault may be used.
_PASS = """
    SELECT (SELECT count(*) FROM near WHERE distance <= %(ceiling)s), array_agg(passing.memory_id),
           array_agg(1 - passing.distance) FROM (
        SELECT near.memory_id, near.distance FROM near JOIN memories_memory ON memories_memory.id = near.memory_id
        WHERE near.distance <= %(ceiling)s AND <passes>
    ) AS passing
"""

_SCAN = f"""
    WITH near AS MATERIALIZED (
        SELECT e.memory_id, e.vector <=> %(vector)s::halfvec AS distance FROM memories_embedding e
        WHERE e.vault_id = <vault> AND e.space_id = <space>
        ORDER BY e.vector <=> %(vector)s::halfvec LIMIT {NEAREST_LOOKED_AT}
    ) {_PASS}
"""

_GRAPH = f"""
    WITH graph AS MATERIALIZED (
        SELECT e.memory_id, e.vector::<type> <=> %(vector)s::<type> AS distance FROM memories_embedding e
        WHERE e.vault_id = <vault> AND e.space_id = <space> AND NOT e.in_tail
        ORDER BY e.vector::<type> <=> %(vector)s::<type> LIMIT {NEAREST_LOOKED_AT}
    ), tail AS MATERIALIZED (
        SELECT e.memory_id, e.vector <=> %(vector)s::halfvec AS distance FROM memories_embedding e
        WHERE e.vault_id = <vault> AND e.space_id = <space> AND e.in_tail
        ORDER BY e.vector <=> %(vector)s::halfvec LIMIT {NEAREST_LOOKED_AT}
    ), near AS (SELECT * FROM graph UNION ALL SELECT * FROM tail ORDER BY distance LIMIT {NEAREST_LOOKED_AT}) {_PASS}
"""

_AMONG = """
    SELECT e.memory_id, 1 - (e.vector <=> %(vector)s::halfvec) FROM memories_embedding e
    WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s AND e.memory_id = ANY(%(few)s::uuid[])
    ORDER BY e.vector <=> %(vector)s::halfvec LIMIT %(limit)s
"""

# By one process: so few are compared sooner than others are started, and with them it costs nearly twice as much. A
# statement that sets something is never shared out; what it sets is what holds anyway.
_FILTER_FIRST = """
    SELECT e.memory_id, 1 - (e.vector <=> %(vector)s::halfvec)
    FROM (SELECT set_config('work_mem', current_setting('work_mem'), true)) AS by_one
    CROSS JOIN memories_embedding e JOIN memories_memory ON memories_memory.id = e.memory_id
    WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s AND <passes>
    ORDER BY e.vector <=> %(vector)s::halfvec LIMIT %(limit)s
"""

_GRAPH_FILTERED = """
    (SELECT e.memory_id, 1 - (e.vector::<type> <=> %(vector)s::<type>) FROM memories_embedding e
        JOIN memories_memory ON memories_memory.id = e.memory_id
        WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s AND NOT e.in_tail AND <passes>
        ORDER BY e.vector::<type> <=> %(vector)s::<type> LIMIT %(limit)s)
    UNION ALL
    (SELECT e.memory_id, 1 - (e.vector <=> %(vector)s::halfvec) FROM memories_embedding e
        JOIN memories_memory ON memories_memory.id = e.memory_id
        WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s AND e.in_tail AND <passes>
        ORDER BY e.vector <=> %(vector)s::halfvec LIMIT %(limit)s)
"""
