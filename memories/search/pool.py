"""The candidates of a search: what the legs found, with the nearest neighbours of the best of it in their sessions.

One statement reads all that ranking needs: keyed words, vectors and labels, never content.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from banks.access import Access
from memories.search.candidates import Allowed, run
from memories.search.windows import SIDE, Floats, Integers, Vectors

#: Units of one memory that are looked at beyond those that hold the question's words best.
UNITS_MAX = 24
_ARRAY_HEADER, _VECTOR_HEADER = 20, 4


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read: memories the legs found, those whose neighbours come too, the question's terms, the space."""

    found: Sequence[UUID]
    with_neighbours: Sequence[UUID]
    terms: Sequence[int]
    space_id: UUID | None


@dataclass(frozen=True, slots=True)
class Labels:
    """What is known of a unit's memory besides words and meaning."""

    day: dt.date
    role: str | None
    trust: str
    entities: Sequence[str]


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
        "units": UNITS_MAX,
        "side": SIDE,
    }
    return _pool(run(_POOL, rows, named, binary=True), wanted.terms)


def _pool(rows: Sequence[tuple[Any, ...]], terms: Sequence[int]) -> Pool:
    memories = [row[0] for row in rows]
    joined = [
        one[0] == other[0] if one[0] == other[0] else one[1] is not None and one[1] == other[0]
        for one, other in pairwise(rows)
    ]
    return Pool(
        memories=memories,
        labels=[Labels(row[2].date(), row[3], row[4], row[5]) for row in rows],
        chars=np.array([row[6] or 0 for row in rows], np.int64),
        lengths=np.array([row[7] or 0 for row in rows], np.float64),
        counts=_counts(rows, terms),
        vectors=_vectors([row[10] for row in rows]),
        joined=np.array(joined, np.bool_),
    )


def _counts(rows: Sequence[tuple[Any, ...]], terms: Sequence[int]) -> Floats:
    """How often each unit holds each term, from the arrays as PostgreSQL sends them: (length, value) by element."""
    counts = np.zeros((len(rows), len(terms)))
    if not terms or not rows:
        return counts
    words = [bytes(row[8])[_ARRAY_HEADER:] if row[8] else b"" for row in rows]
    times = [bytes(row[9])[_ARRAY_HEADER:] if row[9] else b"" for row in rows]
    values = np.frombuffer(b"".join(words), [("size", ">i4"), ("value", ">i8")])["value"].astype(np.int64)
    often = np.frombuffer(b"".join(times), [("size", ">i4"), ("value", ">i2")])["value"]
    owners = np.repeat(np.arange(len(rows)), [len(part) // 12 for part in words])
    order = np.argsort(np.array(terms, np.int64))
    ordered = np.array(terms, np.int64)[order]
    places = np.minimum(np.searchsorted(ordered, values), len(terms) - 1)
    hit = ordered[places] == values
    counts[owners[hit], order[places[hit]]] = often[hit]
    return counts


def _vectors(sent: Sequence[bytes | None]) -> Vectors:
    """Halves in network order after a header; units without a vector get a zero one."""
    some = next((vector for vector in sent if vector is not None), None)
    if some is None:
        return np.zeros((len(sent), 0), np.float32)
    nothing = bytes(len(some) - _VECTOR_HEADER)
    together = b"".join(nothing if vector is None else bytes(vector)[_VECTOR_HEADER:] for vector in sent)
    return np.frombuffer(together, ">f2").reshape(len(sent), -1).astype(np.float32)


_BEFORE_AND_AFTER = " UNION ALL ".join(
    f"""(SELECT o.id FROM memories_memory o
        WHERE o.vault_id = m.vault_id AND o.session_id = m.session_id
          AND (coalesce(o.event_at, o.created_at), o.doc_no) {sign} (coalesce(m.event_at, m.created_at), m.doc_no)
        ORDER BY coalesce(o.event_at, o.created_at) {way}, o.doc_no {way} LIMIT %(side)s)"""
    for sign, way in (("<", "DESC"), (">", "ASC"))
)

_POOL = f"""
    WITH near AS (
        SELECT around.id FROM memories_memory m CROSS JOIN LATERAL ({_BEFORE_AND_AFTER}) AS around
        WHERE m.vault_id = %(vault)s AND m.id = ANY(%(near)s) AND m.session_id IS NOT NULL
    ), pool AS MATERIALIZED (
        SELECT unnest(%(found)s::uuid[]) AS id
        UNION SELECT near.id FROM near WHERE near.id IN (<allowed>)
    )
    SELECT m.id, CASE WHEN m.session_id IS NOT NULL THEN (
               SELECT o.id FROM memories_memory o
               WHERE o.vault_id = m.vault_id AND o.session_id = m.session_id
                 AND (coalesce(o.event_at, o.created_at), o.doc_no) > (coalesce(m.event_at, m.created_at), m.doc_no)
               ORDER BY coalesce(o.event_at, o.created_at), o.doc_no LIMIT 1) END,
           coalesce(m.event_at, m.created_at) AS at, m.role, m.trust, m.entities,
           i.chars, i.doc_len, array_send(i.terms), array_send(i.tfs), halfvec_send(e.vector)
    FROM pool JOIN memories_memory m ON m.id = pool.id AND m.vault_id = %(vault)s
    LEFT JOIN memories_memoryindex i ON i.memory_id = m.id AND i.unit < %(units)s
    LEFT JOIN memories_embedding e
        ON e.memory_id = m.id AND e.space_id = %(space)s AND e.unit = coalesce(i.unit, e.unit) AND e.unit < %(units)s
    ORDER BY m.session_id, at, m.doc_no, coalesce(i.unit, e.unit)
"""
