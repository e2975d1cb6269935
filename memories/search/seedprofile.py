"""Profile ``seed``: the order the original systems documented. Semantic, keyword and graph leg, weighted reciprocal
ranks, decay, variety — in exactly that sequence (SRC-08, CON-14).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np

from memories.rules.fusion import Legs, reciprocal_ranks, total
from memories.rules.reranking import Manner
from memories.search.graph import SEEDS, graph_leg
from memories.search.pool import Pool, Wanted, read_pool
from memories.search.question import Asked, Found
from memories.search.ranking import Circumstances, Fused, Ranking, first_units, ranked
from memories.search.windows import Vectors, directions

type Leg = Mapping[UUID, float]

LEGS = ("semantic", "keyword", "graph")


def seed(asked: Asked, found: Found) -> Ranking:
    """Memories in the seed's order; ``decay`` and ``variety`` show as what they took away."""
    weights, k = weights_of(asked.settings), asked.settings["rrf_k"]
    legs: dict[str, Leg] = {"keyword": found.keyword.found}
    if found.meaning is not None:
        legs = {"semantic": found.meaning.found, **legs}
    legs["graph"] = graph_leg(asked.access, asked.rows, seeds_of(legs, weights, k))
    memories = sorted({memory_id for leg in legs.values() for memory_id in leg})
    space = found.meaning.space.space_id if found.meaning else None
    pool = read_pool(asked.access, asked.rows, Wanted(memories, [], [], space))
    asked.trace.mark("pool", len(memories), len(pool))
    first = first_units(pool.memories)
    along = _along([pool.memories[row] for row in first], legs)
    fused = Fused([pool.memories[row] for row in first], along, reciprocal_ranks(along, weights, k), weights)
    return ranked(fused, _circumstances(pool, first, asked.at.date()), manner_of(asked.settings))


def weights_of(settings: Mapping[str, Any]) -> dict[str, float]:
    """Leg → its weight in the reciprocal ranks."""
    return {name: settings[f"seed_{name}_weight"] for name in LEGS}


def manner_of(settings: Mapping[str, Any]) -> Manner:
    """Decay from today on, and variety of everything that is alike at all."""
    return Manner(
        half_life=settings["decay_half_life_days"],
        floor=settings["decay_floor"],
        importance=settings["importance_boost"],
        confidence=settings["confidence_boost"],
        balance=settings["mmr_lambda"],
    )


def seeds_of(legs: Mapping[str, Leg], weights: Mapping[str, float], k: int) -> dict[UUID, float]:
    """The ten best by reciprocal ranks, from which the graph leg takes its step, with their scores."""
    memories = sorted({memory_id for leg in legs.values() for memory_id in leg})
    scores = total(reciprocal_ranks(_along(memories, legs), weights, k), len(memories))
    return {memories[place]: float(scores[place]) for place in np.argsort(-scores, kind="stable")[:SEEDS]}


def _along(memories: Sequence[UUID], legs: Mapping[str, Leg]) -> Legs:
    return {
        name: np.array([found.get(memory_id, np.nan) for memory_id in memories], np.float64)
        for name, found in legs.items()
    }


def _circumstances(pool: Pool, first: Sequence[int], today: dt.date) -> Circumstances:
    return Circumstances(
        ages=(today.toordinal() - pool.days[first]).astype(np.float64),
        importance=pool.importance[first],
        confidence=pool.confidence[first],
        vectors=_vectors(pool, first),
    )


def _vectors(pool: Pool, first: Sequence[int]) -> Vectors:
    """One direction for each memory: that of all its units."""
    if not len(first) or not pool.vectors.shape[1]:
        return np.zeros((len(first), 0), np.float32)
    return directions(np.add.reduceat(pool.vectors, first, axis=0))
