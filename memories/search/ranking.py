"""From the scores of units to memories in order: age and boosts, best units, variety (SRC-06, SRC-07, SRC-16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from uuid import UUID

import numpy as np

from memories.rules.fusion import Legs, LegScore, Numbers, explain_all, total
from memories.rules.reranking import Manner, boost, decay, in_turn, varied
from memories.search.windows import Vectors, directions

#: So many of the first are ordered for variety; what is further down is seldom read together.
VARIED = 50


@dataclass(frozen=True, slots=True)
class Fused:
    """Units with their memory, what each leg says of them and adds to their score; all arrays along them.

    The units of a memory stand next to each other.
    """

    memories: Sequence[UUID]
    legs: Legs
    parts: Legs
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What counts after fusion, along the units: age in days, importance and confidence from 1 to 5, vectors."""

    ages: Numbers
    importance: Numbers
    confidence: Numbers
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Ranking:
    """Memories, best first, with the row of each one's best unit; explained only when asked."""

    memories: Sequence[UUID]
    rows: Sequence[int]
    scores: Sequence[float]
    legs: Legs
    parts: Legs
    weights: Mapping[str, float]

    def explain(self, place: int) -> Mapping[str, LegScore]:
        """Why the memory at a place stands there (SRC-16)."""
        return self.explain_all([place])[0]

    def explain_all(self, places: Sequence[int]) -> list[dict[str, LegScore]]:
        """The same for several places: each leg is put in order once."""
        return explain_all(self.legs, self.parts, self.weights, [self.rows[place] for place in places])

    def led_by(self, first: Sequence[UUID], leg: str) -> Ranking:
        """These memories first, in this order, and the others as they were; ``leg`` explains the difference.

        It adds to a memory's score what lifts it above everything else, so that scores still fall and add up.
        """
        places = {memory: place for place, memory in enumerate(self.memories)}
        lifted = [places[memory] for memory in first]
        order = [*lifted, *sorted(set(range(len(self.memories))) - set(lifted))]
        scores, top = list(self.scores), max(self.scores, default=0.0)
        count = max(self.rows, default=-1) + 1
        told, added = np.full(count, np.nan), np.zeros(count)
        for rank, place in enumerate(lifted):
            told[self.rows[place]] = 1 - rank / len(lifted)
            scores[place] = top + 1 - rank / len(lifted)
            added[self.rows[place]] = scores[place] - self.scores[place]
        return Ranking(
            [self.memories[place] for place in order],
            [self.rows[place] for place in order],
            [scores[place] for place in order],
            {**self.legs, leg: told},
            {**self.parts, leg: added},
            {**self.weights, leg: 1.0},
        )


def ranked(fused: Fused, around: Circumstances, manner: Manner) -> Ranking:
    """Stages 5 and 6: decay, boosts, and the first fifty by variety, in that order (SRC-08)."""
    return _with_variety(best_units(_reweighed(fused, around, manner)), around.vectors, manner)


def _reweighed(fused: Fused, around: Circumstances, manner: Manner) -> Fused:
    """With the parts of decay and boosts; a factor of 1 says nothing."""
    factors = {
        "decay": decay(around.ages, manner.half_life, manner.floor),
        "importance": boost(around.importance, manner.importance),
        "confidence": boost(around.confidence, manner.confidence),
    }
    factors = {name: factor for name, factor in factors.items() if (factor != 1).any()}
    if not factors:
        return fused
    told = {name: np.where(factor == 1, np.nan, factor) for name, factor in factors.items()}
    return replace(
        fused,
        legs={**fused.legs, **told},
        parts={**fused.parts, **in_turn(total(fused.parts, len(fused.memories)), factors)},
        weights={**fused.weights, **dict.fromkeys(factors, 1.0)},
    )


def best_units(fused: Fused) -> Ranking:
    """Memories by their best unit; equal scores in the order of their ids. What nothing speaks for is left out."""
    memories, scores = fused.memories, total(fused.parts, len(fused.memories))
    starts = first_units(memories)
    spans = zip(starts, [*starts, len(memories)][1:], strict=True)
    best = [first if end == first + 1 else first + int(scores[first:end].argmax()) for first, end in spans]
    by_id = sorted((row for row in best if scores[row] > 0), key=lambda row: _NUMBER(memories[row]))
    rows = [by_id[place] for place in np.argsort(-scores[by_id], kind="stable")] if by_id else []
    ordered = [memories[row] for row in rows]
    return Ranking(ordered, rows, scores[rows].tolist() if rows else [], fused.legs, fused.parts, fused.weights)


def first_units(memories: Sequence[UUID]) -> list[int]:
    """The row where each memory begins."""
    return [row for row in range(len(memories)) if row == 0 or memories[row] != memories[row - 1]]


_NUMBER = attrgetter("int")


def _with_variety(ranking: Ranking, vectors: Vectors, manner: Manner) -> Ranking:
    """The first by MMR, the others after them as they stand; ``variety`` tells what it held against a hit."""
    if manner.balance >= 1 or not vectors.shape[1] or len(ranking.rows) < 2:
        return ranking
    first = list(ranking.rows[:VARIED])
    picked, penalties = varied(np.array(ranking.scores[:VARIED]), directions(vectors[first]), manner, len(first))
    held_against = np.full(len(vectors), np.nan)
    held_against[first] = np.where(penalties > 0, penalties, np.nan)
    order = [*picked, *range(len(first), len(ranking.rows))]
    return replace(
        ranking,
        memories=[ranking.memories[place] for place in order],
        rows=[ranking.rows[place] for place in order],
        scores=[ranking.scores[place] for place in order],
        legs={**ranking.legs, "variety": held_against},
        parts={**ranking.parts, "variety": np.zeros(len(vectors))},
        weights={**ranking.weights, "variety": 0.0},
    )
