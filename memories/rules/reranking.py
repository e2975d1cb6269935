"""What happens to an order after fusion: age, importance, confidence, variety (SRC-06, SRC-07). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

type Numbers = NDArray[np.float64]

#: Importance and confidence of most memories, 1 to 5: what has it is neither raised nor lowered.
ORDINARY = 3


@dataclass(frozen=True, slots=True)
class Manner:
    """How an order is changed after fusion; with the defaults not at all."""

    half_life: float = 0.0
    floor: float = 0.0
    importance: float = 0.0
    confidence: float = 0.0
    #: Of MMR: 1 is relevance only, 0 variety only; and from which cosine on two memories count as alike.
    balance: float = 1.0
    alike_from: float = 0.0


def decay(ages: Numbers, half_life: float, floor: float) -> Numbers:
    """Age in days → what is left of a score, ``0.5^(age / half_life)`` but at least ``floor``; 0 days: no decay.

    What lies in the future is not older than what is new.
    """
    if half_life <= 0:
        return np.ones_like(ages)
    return np.maximum(floor, 0.5 ** (np.maximum(ages, 0.0) / half_life))


def boost(levels: Numbers, most: float) -> Numbers:
    """Importance or confidence, 1 to 5 → the factor of a score: ``1 + most`` for 5, 1 for 3, ``1 - most`` for 1."""
    return 1.0 + most * (levels - ORDINARY) / (5 - ORDINARY)


def in_turn(scores: Numbers, factors: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """What each factor adds to the scores as those before it left them; with them it adds up to the product."""
    parts: dict[str, Numbers] = {}
    for name, factor in factors.items():
        parts[name] = scores * (factor - 1.0)
        scores = scores + parts[name]
    return parts


def varied(scores: Numbers, vectors: NDArray[np.float32], manner: Manner, count: int) -> tuple[list[int], Numbers]:
    """Maximal marginal relevance: the first ``count`` places, each the best of what is left after
    ``balance * score - (1 - balance) * likeness to what stands already``; and that penalty of each candidate.

    Scores are taken as shares of the best. Likeness is the nearest cosine, of which what lies below ``alike_from``
    does not count: 0 there, 1 for equal directions. Vectors are unit vectors, or zero for those that have none. Ties
    go to the earlier candidate.
    """
    best = scores.max(initial=0.0)
    worth = manner.balance * (scores / best if best > 0 else scores)
    penalties, standing = np.zeros(len(scores)), np.zeros(len(scores))
    cosines = vectors @ vectors.T
    alike = (1 - manner.balance) * np.clip((cosines - manner.alike_from) / max(1 - manner.alike_from, 1e-9), 0.0, 1.0)
    order: list[int] = []
    while len(order) < min(count, len(scores)):
        place = int((worth - standing).argmax())
        order.append(place)
        penalties[place] = standing[place]
        standing = np.maximum(standing, alike[place])
        worth[place] = -np.inf
    return order, penalties
