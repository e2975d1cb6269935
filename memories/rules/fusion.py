"""Putting the legs of a search together.

Every leg gives each candidate a number; NaN says that the leg did not find it. Profile ``balanced`` divides each leg
by its best and adds them up, weighted: measured better than rank fusion on conversations, because it keeps how sure
each leg is. Profile ``seed`` adds up weighted reciprocal ranks (SRC-05, CON-14).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

type Numbers = NDArray[np.float64]
type Legs = Mapping[str, Numbers]

RRF_K = 60


@dataclass(frozen=True, slots=True)
class LegScore:
    """One leg's part in a hit: its own score and rank (from 1), the share of its best, and what it added to the sum."""

    score: float
    rank: int
    normalised: float
    weight: float
    contribution: float


def shares(scores: Numbers) -> Numbers:
    """Each score as a share of the best, from 0 to 1; negative ones and NaN are 0, and so is all when the best is."""
    positive = np.fmax(scores, 0.0)  # of NaN and a number it takes the number
    best = positive.max(initial=0.0)
    return positive / best if best > 0 else positive


def ranks(scores: Numbers) -> Numbers:
    """Place of each score in its leg, 1 for the best, equal scores sharing one; NaN for what the leg did not find."""
    ordered = np.sort(-scores[~np.isnan(scores)])
    return np.where(np.isnan(scores), np.nan, np.searchsorted(ordered, -scores) + 1.0)


def normalised_sum(legs: Legs, weights: Mapping[str, float]) -> dict[str, Numbers]:
    """What each leg adds to each candidate's score. Raises KeyError for a leg without a weight."""
    return {name: weights[name] * shares(scores) for name, scores in legs.items()}


def reciprocal_ranks(legs: Legs, weights: Mapping[str, float], k: int = RRF_K) -> dict[str, Numbers]:
    """The same by rank: weight / (k + rank), 0 where the leg did not find it. Raises KeyError as above."""
    return {name: weights[name] * np.nan_to_num(1 / (k + ranks(scores)), nan=0.0) for name, scores in legs.items()}


def total(parts: Legs, count: int) -> Numbers:
    """The sum of the parts of ``count`` candidates."""
    return sum(parts.values(), start=np.zeros(count))


def explain(legs: Legs, parts: Legs, weights: Mapping[str, float], place: int) -> dict[str, LegScore]:
    """The same for one place."""
    return explain_all(legs, parts, weights, [place])[0]


def explain_all(
    legs: Legs, parts: Legs, weights: Mapping[str, float], places: Sequence[int]
) -> list[dict[str, LegScore]]:
    """Why the candidates at ``places`` stand where they do: every leg that says something of one, at full precision.

    The contributions add up to its score (SRC-16).
    """
    told: list[dict[str, LegScore]] = [{} for _ in places]
    for name, scores in legs.items():
        added = parts[name][places]
        there = scores[places]
        speaks = (added != 0) | ((there != 0) & ~np.isnan(there))
        if not speaks.any():
            continue
        best = float(np.fmax.reduce(scores))
        # The places asked for are few, and putting the whole leg in order for them costs several times this.
        standing = 1 + np.count_nonzero(scores > there[:, None], axis=1)
        for one in np.flatnonzero(speaks).tolist():
            told[one][name] = LegScore(
                score=float(there[one]),
                rank=int(standing[one]),
                normalised=max(float(there[one]), 0.0) / best if best > 0 else 0.0,
                weight=weights[name],
                contribution=float(added[one]),
            )
    return told
