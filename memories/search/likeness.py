"""What a new memory resembles: the nearest vectors of the vault, for one text or for a batch of them (DEF-08, DUP-13).

The graph answers every vector in one statement. What is scanned exactly (a small vault, or the tail beside the graph)
is scanned in the database for one vector, and read once and multiplied here for many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray
from psycopg import ServerCursor

from banks.access import Access
from memories.index.spaces import ActiveSpace
from memories.models import Memory
from memoryhub.lib.halves import halfvec_text

type Vectors = NDArray[np.float32]
#: One text's neighbours, nearest first: memory and own cosine.
type Neighbours = list[tuple[UUID, float]]

#: How many neighbours are looked at before labels are compared; no more than this when their labels crowd others out.
LOOKED_AT = 40
#: The same for each of many: what is as near as a duplicate is among the nearest few, and a batch asks 500 times.
LOOKED_AT_EACH = 16
#: From so many vectors on, reading the scanned ones once is cheaper than scanning for each.
READ_FROM = 4
#: So many of them at once: a large vault that has no graph yet is read whole, and does not fit into memory.
READ_AT_ONCE = 4_096
_VECTOR_HEADER = 4


@dataclass(frozen=True, slots=True)
class Resembling:
    """Vectors to find neighbours for, and the least own cosine that counts."""

    space: ActiveSpace
    vectors: Vectors
    floor: float


def nearest_memories(access: Access, asked: Resembling) -> list[Neighbours]:
    """The neighbours of each vector, whatever their labels, at most 40. Best effort: an index may overlook one."""
    found = [dict[UUID, float]() for _ in asked.vectors]
    for place, memory_id, cosine in [*_in_graph(access, asked), *_scanned(access, asked)]:
        found[place][memory_id] = max(cosine, found[place].get(memory_id, -1.0))
    return [sorted(each.items(), key=lambda item: (-item[1], item[0]))[:LOOKED_AT] for each in found]


def nearest_with_labels(access: Access, asked: Resembling, like: Memory) -> Neighbours:
    """The neighbours of the one vector among live memories with the labels of ``like``: exact, and slow at size."""
    (vector,) = asked.vectors
    named = {
        **_named(access, asked),
        "vector": halfvec_text(vector),
        "type": like.type,
        "user": like.user_id,
        "namespace": list(like.namespace),
        "scope": like.scope,
        "agent": like.dedup_agent,
    }
    return [(memory_id, cosine) for _, memory_id, cosine in _rows(_WITH_LABELS, named)]


def _in_graph(access: Access, asked: Resembling) -> list[tuple[int, UUID, float]]:
    if not asked.space.has_graph:
        return []
    named = {**_named(access, asked), "vectors": [halfvec_text(vector) for vector in asked.vectors]}
    return _rows(_GRAPH.replace("<type>", f"halfvec({asked.vectors.shape[1]})"), named)


def _scanned(access: Access, asked: Resembling) -> list[tuple[int, UUID, float]]:
    named = _named(access, asked)
    where = "AND e.in_tail" if asked.space.has_graph else ""
    if len(asked.vectors) < READ_FROM:
        named["vectors"] = [halfvec_text(vector) for vector in asked.vectors]
        return _rows(_SCAN.replace("<where>", where), named)
    return _multiplied(_READ.replace("<where>", where), named, asked)


def _multiplied(statement: str, named: dict[str, Any], asked: Resembling) -> list[tuple[int, UUID, float]]:
    found: list[tuple[int, UUID, float]] = []
    with (
        transaction.atomic(savepoint=False),
        connection.wrap_database_errors,
        ServerCursor(connection.connection, "scanned") as cursor,
    ):
        cursor.execute(connection.connection.cursor().mogrify(statement, named), binary=True)
        while rows := cursor.fetchmany(READ_AT_ONCE):
            sent = b"".join(bytes(vector)[_VECTOR_HEADER:] for _, vector in rows)
            there = np.frombuffer(sent, ">f2").reshape(len(rows), -1).astype(np.float32)
            cosines = asked.vectors @ there.T
            places, others = np.nonzero(cosines >= asked.floor)
            near = cosines[places, others].tolist()
            found += [(p, rows[o][0], c) for p, o, c in zip(places.tolist(), others.tolist(), near, strict=True)]
    return found


def _named(access: Access, asked: Resembling) -> dict[str, Any]:
    return {
        "vault": access.vault_id,
        "space": asked.space.space_id,
        "ceiling": 1 - asked.floor,
        "looked_at": LOOKED_AT if len(asked.vectors) < READ_FROM else LOOKED_AT_EACH,
    }


def _rows(statement: str, named: dict[str, Any]) -> list[tuple[int, UUID, float]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, named)
        return list(cursor.fetchall())


# The index looks at as many as ef_search says, and here the nearest few are enough; set where the scan depends on it.
_GRAPH = """
    SELECT asked.place::int - 1, near.memory_id, 1 - near.distance
    FROM (SELECT set_config('hnsw.ef_search', %(looked_at)s::text, true)) AS narrower
    CROSS JOIN unnest(%(vectors)s::text[]::halfvec[]) WITH ORDINALITY AS asked(vector, place)
    CROSS JOIN LATERAL (
        SELECT e.memory_id, e.vector::<type> <=> asked.vector::<type> AS distance FROM memories_embedding e
        WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s AND NOT e.in_tail
        ORDER BY e.vector::<type> <=> asked.vector::<type> LIMIT %(looked_at)s
    ) AS near WHERE near.distance <= %(ceiling)s
"""

_SCAN = """
    SELECT asked.place::int - 1, near.memory_id, 1 - near.distance
    FROM unnest(%(vectors)s::text[]::halfvec[]) WITH ORDINALITY AS asked(vector, place)
    CROSS JOIN LATERAL (
        SELECT e.memory_id, e.vector <=> asked.vector AS distance FROM memories_embedding e
        WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s <where>
        ORDER BY e.vector <=> asked.vector LIMIT %(looked_at)s
    ) AS near WHERE near.distance <= %(ceiling)s
"""

_READ = """
    SELECT e.memory_id, halfvec_send(e.vector) FROM memories_embedding e
    WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s <where>
"""

_WITH_LABELS = """
    SELECT 0, e.memory_id, 1 - (e.vector <=> %(vector)s::halfvec)
    FROM memories_memory m JOIN memories_embedding e ON e.memory_id = m.id AND e.space_id = %(space)s
    WHERE m.vault_id = %(vault)s AND m.type = %(type)s AND m.user_id IS NOT DISTINCT FROM %(user)s
      AND m.namespace = %(namespace)s::varchar[] AND m.scope = %(scope)s
      AND m.dedup_agent IS NOT DISTINCT FROM %(agent)s
      AND m.archived_at IS NULL AND m.superseded_by_id IS NULL AND NOT m.status = 'discard'
      AND e.vector <=> %(vector)s::halfvec <= %(ceiling)s
    ORDER BY e.vector <=> %(vector)s::halfvec LIMIT %(looked_at)s
"""
