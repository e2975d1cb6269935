"""Putting the legs of a search together: each leg's scores divided by its best, weighted and summed.

Measured better than rank fusion on conversations, because it keeps how sure each leg is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Ordered(Protocol):
    """An id: hashable, and comparable so that ties break the same way every time."""

    def __lt__(self, other: Any, /) -> bool: ...
    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class LegScore:
    """One leg's part in a hit: its own score and rank (from 1), the share of its best, and what it added to the sum."""

    score: float
    rank: int
    normalised: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Fused[Id: Ordered]:
    """A candidate with its final score, from 0 to the sum of the weights, and each leg's part in it (SRC-16)."""

    id: Id
    score: float
    legs: Mapping[str, LegScore]


def fuse[Id: Ordered](legs: Mapping[str, Mapping[Id, float]], weights: Mapping[str, float]) -> list[Fused[Id]]:
    """Every candidate of any leg, best first; equal scores in the order of their ids.

    `legs` maps a leg's name to its candidates' raw scores (cosine, BM25 …). Negative scores count as 0, and a leg
    whose best is 0 adds nothing. Raises KeyError for a leg without a weight.
    """
    parts: dict[Id, dict[str, LegScore]] = {}
    for name, scores in legs.items():
        weight = weights[name]
        best = max(scores.values(), default=0.0)
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        for rank, (candidate, score) in enumerate(ranked, 1):
            share = max(score, 0.0) / best if best > 0 else 0.0
            parts.setdefault(candidate, {})[name] = LegScore(score, rank, share, weight, weight * share)
    fused = [Fused(item, math.fsum(leg.contribution for leg in found.values()), found) for item, found in parts.items()]
    return sorted(fused, key=lambda hit: (-hit.score, hit.id))
