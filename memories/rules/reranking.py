"""What happens to an order after fusion: age, and variety. Pure (SRC-06, SRC-07)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

type Numbers = NDArray[np.float64]

#: However old, a memory keeps so much of its score: old facts stay findable.
DECAY_FLOOR = 0.3


def decay(ages: Numbers, half_life: float, floor: float = DECAY_FLOOR) -> Numbers:
    """Age in days → what is left of a score, ``0.5^(age / half_life)`` but at least ``floor``; 0 days: no decay.

    What lies in the future is not older than what is new.
    """
    if half_life <= 0:
        return np.ones_like(ages)
    return np.maximum(floor, 0.5 ** (np.maximum(ages, 0.0) / half_life))


def varied(scores: Numbers, vectors: NDArray[np.float32], balance: float, count: int) -> tuple[list[int], Numbers]:
    """Maximal marginal relevance: the first ``count`` places, each the best of what is left after
    ``balance * score - (1 - balance) * nearest cosine to what stands already``; and that penalty of each candidate.

    Scores are taken as shares of the best; vectors are unit vectors, or zero for those that have none. Ties go to the
    earlier candidate.
    """
    best = scores.max(initial=0.0)
    worth = scores / best if best > 0 else scores
    nearest, penalties = np.zeros(len(scores)), np.zeros(len(scores))
    left, order = np.ones(len(scores), np.bool_), list[int]()
    while len(order) < min(count, len(scores)):
        value = np.where(left, balance * worth - (1 - balance) * nearest, -np.inf)
        place = int(value.argmax())
        order.append(place)
        left[place], penalties[place] = False, (1 - balance) * nearest[place]
        nearest = np.maximum(nearest, vectors @ vectors[place])
    return order, penalties
