"""The candidates of a search: what the legs found, with the nearest neighbours of the best of it in their sessions.

One statement reads all that ranking needs: keyed words, vectors and labels, never content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from banks.access import Access
from memories.search.candidates import Allowed, run
from memories.search.counting import counting, read_counts
from memories.search.windows import SIDE, Floats, Integers, Vectors
from memoryhub.lib.statements import id_array

#: Units of one memory that are looked at beyond those that hold the question's words best.
UNITS_MAX = 24
#: Of a vector as it is sent, in halves.
_VECTOR_HEADER = 2


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read: memories the legs found, those whose neighbours come too, the question's terms, the space."""

    found: Sequence[UUID]
    with_neighbours: Sequence[UUID]
    terms: Sequence[int]
    space_id: UUID | None


@dataclass(frozen=True, slots=True)
class Pool:
    """Units in the order of their sessions, all arrays along them; ``counts`` is (units, terms)."""

    memories: Sequence[UUID]
    #: The day of the memory as ``date.toordinal`` counts them.
    days: Integers
    roles: Sequence[str | None]
    trusts: Sequence[str]
    entities: Sequence[Sequence[str]]
    importance: Floats
    confidence: Floats
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
    near = set(wanted.with_neighbours)
    named = {
        "vault": access.vault_id,
        "found": id_array([each for each in wanted.found if each not in near]),
        "near": id_array(wanted.with_neighbours),
        "space": wanted.space_id,
    }
    columns, terms = counting(wanted.terms)
    (row,) = run(_POOL.replace("<counting>", columns), rows, named | terms)
    return _pool(row, wanted.terms)


def _pool(row: Sequence[Any], terms: Sequence[int]) -> Pool:
    memories, following, days, roles, trusts, entities, *numbers, vectors, some, words, times = row
    if memories is None:
        memories = following = days = roles = trusts = entities = some = []
        numbers = [[]] * len(numbers)
    importance, confidence, chars, lengths = (np.array(column, np.float64) for column in numbers)
    return Pool(
        memories=memories,
        days=np.array(days, np.int64),
        roles=roles,
        trusts=trusts,
        entities=entities,
        importance=importance,
        confidence=confidence,
        chars=chars.astype(np.int64),
        lengths=lengths,
        counts=read_counts(len(memories), words, times, terms),
        vectors=_vectors(vectors, np.array(some, np.bool_)),
        joined=_joined(memories, following),
    )


def _joined(memories: Sequence[UUID], following: Sequence[UUID | None]) -> NDArray[np.bool_]:
    """Whether the next unit is of the same memory, or of the one that follows it; ids are compared as numbers."""
    numbers = [memory.int for memory in memories]
    follow = [None if memory is None else memory.int for memory in following]
    pairs = zip(pairwise(numbers), follow, strict=False)
    return np.array([other in (one, after) for (one, other), after in pairs], np.bool_)


def _vectors(sent: bytes | None, some: NDArray[np.bool_]) -> Vectors:
    """Halves in network order, each vector after a header; ``some`` units have one, the others get a zero one."""
    if sent is None:
        return np.zeros((len(some), 0), np.float32)
    rows = np.frombuffer(sent, ">f2").reshape(int(np.count_nonzero(some)), -1)[:, _VECTOR_HEADER:]
    if some.all():
        return rows.astype(np.float32)
    vectors = np.zeros((len(some), rows.shape[1]), np.float32)
    vectors[some] = rows
    return vectors


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

# Every memory's row is read once, where it is found. Who follows whom in a session is known where neighbours were
# looked up; another that has one of its session after it in the pool is asked which really comes next there. All is
# sent as one row of columns: hundreds of rows take longer to read than to find.
_POOL = f"""
    WITH turns AS (
        SELECT *, lead(id) OVER (PARTITION BY seed ORDER BY at, doc_no) AS next FROM (
            SELECT m.id AS seed, around.* FROM memories_memory m
            CROSS JOIN LATERAL (SELECT {_READ.replace("memories_memory", "m")}, true AS passes
                UNION ALL {_BEFORE_AND_AFTER}) AS around
            WHERE m.vault_id = %(vault)s AND m.id = ANY(%(near)s::uuid[])
        ) AS near
    ), pool AS (
        SELECT DISTINCT ON (id) {_LABELS}, next FROM (
            SELECT {_READ}, NULL::uuid AS next FROM memories_memory
            WHERE memories_memory.vault_id = %(vault)s AND memories_memory.id = ANY(%(found)s::uuid[])
            UNION ALL
            SELECT {_LABELS}, next FROM turns WHERE passes
        ) AS known ORDER BY id, next
    ), ordered AS MATERIALIZED (
        SELECT *, session_id = lead(session_id) OVER (ORDER BY session_id, at, doc_no) AS is_followed FROM pool
    ), units AS (
        SELECT m.*, i.chars, i.doc_len, i.terms, i.tfs, e.vector FROM ordered m
        LEFT JOIN memories_memoryindex i ON i.memory_id = m.id AND i.unit < {UNITS_MAX}
        LEFT JOIN memories_embedding e ON e.memory_id = m.id AND e.space_id = %(space)s::uuid
            AND e.unit = coalesce(i.unit, e.unit) AND e.unit < {UNITS_MAX}
        ORDER BY m.session_id, m.at, m.doc_no, coalesce(i.unit, e.unit)
    )
    SELECT array_agg(id),
           array_agg(CASE WHEN next IS NOT NULL THEN next WHEN is_followed THEN (
               SELECT o.id FROM memories_memory o
               WHERE o.vault_id = %(vault)s AND o.session_id = i.session_id
                 AND (coalesce(o.event_at, o.created_at), o.doc_no) > (i.at, i.doc_no)
               ORDER BY coalesce(o.event_at, o.created_at), o.doc_no LIMIT 1) END),
           array_agg(at::date - date '0001-01-01' + 1), array_agg(role), array_agg(trust), json_agg(entities),
           array_agg(importance), array_agg(confidence), array_agg(coalesce(chars, 0)), array_agg(coalesce(doc_len, 0)),
           string_agg(halfvec_send(vector), ''), array_agg(vector IS NOT NULL), <counting>
    FROM units i
"""
