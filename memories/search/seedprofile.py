"""Profile ``seed``: the order the original systems documented. Semantic, keyword and graph leg, weighted reciprocal
ranks, decay, variety — in exactly that sequence (SRC-08, CON-14).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np

from memories.rules.fusion import Legs, Numbers, reciprocal_ranks, total
from memories.rules.reranking import decay, varied
from memories.search.graph import SEEDS, graph_leg
from memories.search.pool import Pool, Wanted, read_pool
from memories.search.question import Asked, Found
from memories.search.ranking import Ranking
from memories.search.windows import Vectors, directions
from memoryhub.lib.clock import now

WEIGHTS: Mapping[str, float] = {"semantic": 1.0, "keyword": 0.8, "graph": 0.6}
#: So many are ordered for variety; what is further down is never read together.
VARIED = 50


def seed(asked: Asked, found: Found) -> Ranking:
    """Memories in the seed's order; ``decay`` and ``variety`` show as what they took away."""
    legs: dict[str, Mapping[UUID, float]] = {"keyword": found.keyword.found}
    if found.meaning is not None:
        legs = {"semantic": found.meaning.found, **legs}
    legs["graph"] = graph_leg(asked.access, asked.rows, _seeds(legs))
    memories = sorted({memory_id for leg in legs.values() for memory_id in leg})
    space = found.meaning.space.space_id if found.meaning else None
    pool = read_pool(asked.access, asked.rows, Wanted(memories, [], [], space))
    return _ranked(asked, pool, legs)


def _seeds(legs: Mapping[str, Mapping[UUID, float]]) -> dict[UUID, float]:
    memories = sorted({memory_id for leg in legs.values() for memory_id in leg})
    scores = total(reciprocal_ranks(_along(memories, legs), WEIGHTS), len(memories))
    return {memories[place]: float(scores[place]) for place in np.argsort(-scores, kind="stable")[:SEEDS]}


def _along(memories: Sequence[UUID], legs: Mapping[str, Mapping[UUID, float]]) -> Legs:
    return {
        name: np.array([found.get(memory_id, np.nan) for memory_id in memories], np.float64)
        for name, found in legs.items()
    }


def _ranked(asked: Asked, pool: Pool, found: Mapping[str, Mapping[UUID, float]]) -> Ranking:
    rows: dict[UUID, list[int]] = {}
    for row, memory_id in enumerate(pool.memories):
        rows.setdefault(memory_id, []).append(row)
    memories = sorted(rows)
    legs = dict(_along(memories, found))
    parts = dict(reciprocal_ranks(legs, WEIGHTS))
    fused = total(parts, len(memories))
    ages = np.array([(now().date() - pool.labels[rows[each][0]].day).days for each in memories], np.float64)
    legs["decay"] = decay(ages, asked.settings["decay_half_life_days"])
    parts["decay"] = fused * (legs["decay"] - 1)
    return _with_variety(memories, legs, parts, _vectors(pool, [rows[each] for each in memories]), asked)


def _vectors(pool: Pool, rows: Sequence[Sequence[int]]) -> Vectors:
    """One direction for each memory: that of all its units."""
    empty = np.zeros((0, pool.vectors.shape[1]), np.float32)
    return directions(np.array([pool.vectors[list(each)].sum(axis=0) for each in rows], np.float32) if rows else empty)


def _with_variety(
    memories: Sequence[UUID], legs: dict[str, Numbers], parts: dict[str, Numbers], vectors: Vectors, asked: Asked
) -> Ranking:
    """The first fifty by MMR, the others after them as they stand."""
    scores = total(parts, len(memories))
    by_score = np.argsort(-scores, kind="stable")
    first, rest = by_score[:VARIED], by_score[VARIED:]
    picked, penalties = varied(scores[first], vectors[first], asked.settings["mmr_lambda"], VARIED)
    legs["variety"] = np.zeros(len(memories))
    legs["variety"][first] = penalties
    rows = [*first[picked].tolist(), *rest.tolist()]
    weights = {**WEIGHTS, "decay": 1.0, "variety": 0.0}
    parts["variety"] = np.zeros(len(memories))
    return Ranking([memories[row] for row in rows], rows, scores[rows].tolist(), legs, parts, weights)
