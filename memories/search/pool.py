"""The candidates of a search: what the legs found, with the nearest neighbours of the best of it in their sessions.

One statement reads all that ranking needs: keyed words, vectors and labels, never content.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from banks.access import Access
from memories.search.candidates import Allowed, run
from memories.search.counting import counting, read_counts
from memories.search.windows import SIDE, Floats, Integers, Vectors

#: Units of one memory that are looked at beyond those that hold the question's words best.
UNITS_MAX = 24
_VECTOR_HEADER = 4


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read: memories the legs found, those whose neighbours come too, the question's terms, the space."""

    found: Sequence[UUID]
    with_neighbours: Sequence[UUID]
    terms: Sequence[int]
    space_id: UUID | None


class Labels(NamedTuple):
    """What is known of a unit's memory besides words and meaning: a tuple, for hundreds are made in every search."""

    day: dt.date
    role: str | None
    trust: str
    entities: Sequence[str]
    importance: int = 3
    confidence: int = 3


@dataclass(frozen=True, slots=True)
class Pool:
    """Units in the order of their sessions, all arrays along them; ``counts`` is (units, terms)."""

    memories: Sequence[UUID]
    labels: Sequence[Labels]
    chars: Integers
    lengths: Floats
    counts: Floats
    vectors: Vectors
    #: Whether the next row is the next unit of the same session.
    joined: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.memories)


def read_pool(access: Access, rows: Allowed, wanted: Wanted) -> Pool:
    """Read the candidates; neighbours only as far as the filters allow (SRC-18)."""
    named = {
        "vault": access.vault_id,
        "found": list(wanted.found),
        "near": list(wanted.with_neighbours),
        "space": wanted.space_id,
    }
    columns, terms = counting(wanted.terms)
    return _pool(run(_POOL.replace("<counting>", columns), rows, named | terms), wanted.terms)


def _pool(rows: Sequence[tuple[Any, ...]], terms: Sequence[int]) -> Pool:
    memories = [row[0] for row in rows]
    joined = [
        one[0] == other[0] if one[0] == other[0] else one[1] is not None and one[1] == other[0]
        for one, other in pairwise(rows)
    ]
    return Pool(
        memories=memories,
        labels=[Labels._make(row[2:8]) for row in rows],
        chars=np.array([row[8] or 0 for row in rows], np.int64),
        lengths=np.array([row[9] or 0 for row in rows], np.float64),
        counts=read_counts([row[11:] for row in rows], terms),
        vectors=_vectors([row[10] for row in rows]),
        joined=np.array(joined, np.bool_),
    )


def _vectors(sent: Sequence[bytes | None]) -> Vectors:
    """Halves in network order after a header; units without a vector get a zero one."""
    some = next((vector for vector in sent if vector is not None), None)
    if some is None:
        return np.zeros((len(sent), 0), np.float32)
    nothing = bytes(len(some) - _VECTOR_HEADER)
    together = b"".join([nothing if vector is None else vector[_VECTOR_HEADER:] for vector in sent])
    return np.frombuffer(together, ">f2").reshape(len(sent), -1).astype(np.float32)


_LABELS = "id, session_id, at, doc_no, role, trust, entities, importance, confidence"
_READ = """
    memories_memory.id, memories_memory.session_id,
    coalesce(memories_memory.event_at, memories_memory.created_at) AS at,
    memories_memory.doc_no, memories_memory.role, memories_memory.trust, memories_memory.entities,
    memories_memory.importance, memories_memory.confidence
"""
_PLACE = "(coalesce({0}.event_at, {0}.created_at), {0}.doc_no)"
_THERE, _HERE = _PLACE.format("memories_memory"), _PLACE.format("m")

_BEFORE_AND_AFTER = " UNION ALL ".join(
    f"""(SELECT {_READ}, <passes> AS passes FROM memories_memory
        WHERE memories_memory.vault_id = m.vault_id AND memories_memory.session_id = m.session_id
          AND {_THERE} {sign} {_HERE}
        ORDER BY coalesce(memories_memory.event_at, memories_memory.created_at) {way}, memories_memory.doc_no {way}
        LIMIT {SIDE})"""
    for sign, way in (("<", "DESC"), (">", "ASC"))
)

# Every memory's row is read once, where it is found; only one that has another of its session after it in the pool is
# asked which memory really comes next there.
_POOL = f"""
    WITH pool AS (
        SELECT DISTINCT ON (id) {_LABELS} FROM (
            SELECT {_READ} FROM memories_memory
            WHERE memories_memory.vault_id = %(vault)s AND memories_memory.id = ANY(%(found)s::uuid[])
            UNION ALL
            SELECT {_LABELS} FROM (
                SELECT around.* FROM memories_memory m CROSS JOIN LATERAL ({_BEFORE_AND_AFTER}) AS around
                WHERE m.vault_id = %(vault)s AND m.id = ANY(%(near)s::uuid[]) AND m.session_id IS NOT NULL
            ) AS near WHERE passes
        ) AS known ORDER BY id
    ), ordered AS MATERIALIZED (
        SELECT *, session_id = lead(session_id) OVER (ORDER BY session_id, at, doc_no) AS is_followed FROM pool
    )
    SELECT m.id, CASE WHEN m.is_followed THEN (
               SELECT o.id FROM memories_memory o
               WHERE o.vault_id = %(vault)s AND o.session_id = m.session_id
                 AND (coalesce(o.event_at, o.created_at), o.doc_no) > (m.at, m.doc_no)
               ORDER BY coalesce(o.event_at, o.created_at), o.doc_no LIMIT 1) END,
           m.at::date, m.role, m.trust, m.entities, m.importance, m.confidence,
           i.chars, i.doc_len, halfvec_send(e.vector), <counting>
    FROM ordered m
    LEFT JOIN memories_memoryindex i ON i.memory_id = m.id AND i.unit < {UNITS_MAX}
    LEFT JOIN memories_embedding e ON e.memory_id = m.id AND e.space_id = %(space)s::uuid
        AND e.unit = coalesce(i.unit, e.unit) AND e.unit < {UNITS_MAX}
    ORDER BY m.session_id, m.at, m.doc_no, coalesce(i.unit, e.unit)
"""
