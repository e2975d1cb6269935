"""From the scores of units to memories in order, each standing where its best unit stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from memories.rules.fusion import Legs, LegScore, explain, total


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
        return explain(self.legs, self.parts, self.weights, self.rows[place])


def best_units(memories: Sequence[UUID], legs: Legs, parts: Legs, weights: Mapping[str, float]) -> Ranking:
    """Memories by their best unit; equal scores in the order of their ids. What nothing speaks for is left out."""
    scores = total(parts, len(memories))
    best: dict[UUID, int] = {}
    for row in np.argsort(-scores, kind="stable").tolist():
        if scores[row] > 0:
            best.setdefault(memories[row], row)
    order = sorted(best.items(), key=lambda item: (-scores[item[1]], item[0]))
    rows = [row for _, row in order]
    return Ranking([memory for memory, _ in order], rows, scores[rows].tolist(), legs, parts, weights)
