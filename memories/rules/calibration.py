"""Cosines of different embedders are not comparable: one number for "close enough" needs a scale per space.

Thresholds are stated on a reference scale; a space maps them to its own cosines by straight lines between knots.
`manage.py bench calibrate` proposes the knots of a space from labelled pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

type Knots = Sequence[tuple[float, float]]

_FACE_VALUE: Knots = ((0.0, 0.0), (1.0, 1.0))
#: (reference, own cosine). WordLlama's static vectors put related texts near 0.25 and unrelated ones below 0.15: the
#: knot at 0.4 is for search. Those from 0.75 on are for deduplication.
KNOTS: Mapping[tuple[str, str], Knots] = {
    ("wordllama", "l2_supercat_256"): ((0.0, 0.0), (0.4, 0.2), (0.75, 0.67), (0.80, 0.71), (0.92, 0.83), (1.0, 1.0)),
    ("wordllama", "l2_supercat_128"): ((0.0, 0.0), (0.4, 0.2), (0.75, 0.67), (0.80, 0.70), (0.92, 0.84), (1.0, 1.0)),
    ("wordllama", "l2_supercat_64"): ((0.0, 0.0), (0.4, 0.2), (0.75, 0.70), (0.80, 0.73), (0.92, 0.86), (1.0, 1.0)),
}


def own_cosine(provider: str, model: str, reference: float) -> float:
    """The space's own cosine for a threshold on the reference scale; unknown spaces are taken at face value."""
    return _along(_knots(provider, model), reference)


def reference_similarity(provider: str, model: str, cosine: float) -> float:
    """The similarity on the reference scale of two vectors with that cosine in the space, at most 1 (DUP-23)."""
    return min(_along([(own, reference) for reference, own in _knots(provider, model)], cosine), 1.0)


def _knots(provider: str, model: str) -> Knots:
    return KNOTS.get((provider, model), _FACE_VALUE)


def _along(knots: Knots, value: float) -> float:
    for (left, low), (right, high) in pairwise(knots):
        if left <= value <= right:
            return low + (high - low) * (value - left) / (right - left)
    return value
