"""Cosines of different embedders are not comparable: one number for "close enough" needs a scale per space.

Thresholds are stated on a reference scale; a space maps them to its own cosines by straight lines between knots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

type Knots = Sequence[tuple[float, float]]

#: (reference, own cosine). WordLlama's static vectors put related texts near 0.25 and unrelated ones below 0.15.
KNOTS: Mapping[tuple[str, str], Knots] = {
    ("wordllama", "l2_supercat_256"): ((0.0, 0.0), (0.4, 0.2), (1.0, 1.0)),
}


def own_cosine(provider: str, model: str, reference: float) -> float:
    """The space's own cosine for a threshold on the reference scale; unknown spaces are taken at face value."""
    knots = KNOTS.get((provider, model), ((0.0, 0.0), (1.0, 1.0)))
    for (left, low), (right, high) in pairwise(knots):
        if left <= reference <= right:
            return low + (high - low) * (reference - left) / (right - left)
    return reference
