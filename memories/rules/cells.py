"""Which of many vectors are near each other, without comparing each with every other.

Vectors are parted into cells of bounded size along the direction in which they differ most, and compared exactly
within a cell. Comparing 100,000 with each other would be 5·10¹² multiplications; in cells of 2,048 it is a fiftieth.
Neighbours on two sides of a border are missed: another ``cut`` puts the borders elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

type Vectors = NDArray[np.float32]
type Places = NDArray[np.intp]

CELL_MAX = 2_048
_BLOCK = 512
_TURNS = 8


def cells(vectors: Vectors, cut: float = 0.5) -> Iterator[Places]:
    """The places of ``vectors`` in cells of at most 2,048; each place in one. ``cut`` of a cell goes to one side."""
    waiting = [np.arange(len(vectors))]
    while waiting:
        cell = waiting.pop()
        if len(cell) <= CELL_MAX:
            yield np.sort(cell)
            continue
        inside = vectors if len(cell) == len(vectors) else vectors[cell]
        along = inside @ _direction(inside)
        order = np.argsort(along, kind="stable")
        border = int(len(cell) * cut)
        waiting += [cell[order[border:]], cell[order[:border]]]


def _direction(vectors: Vectors) -> Vectors:
    """Roughly the first principal direction, the same for the same vectors; a sample of them tells."""
    vectors = vectors[:: -(-len(vectors) // CELL_MAX)]
    middle = vectors.mean(axis=0)
    direction: Vectors = vectors[int(np.argmin(vectors @ middle))] - middle
    for _ in range(_TURNS):
        along = vectors @ direction
        turned = (along - along.mean()) @ vectors
        length = float(np.linalg.norm(turned))
        if length == 0.0:
            break
        direction = np.asarray(turned / length, dtype=np.float32)
    return direction


@dataclass(frozen=True, slots=True)
class Neighbours:
    """For every vector of a cell the nearest others in it, nearest first; ``counts`` also counts those left out."""

    starts: Places
    others: Places
    counts: Places

    def of(self, place: int) -> list[int]:
        """The nearest of one vector."""
        found: list[int] = self.others[self.starts[place] : self.starts[place + 1]].tolist()
        return found


def neighbours(vectors: Vectors, floor: float, most: int) -> Neighbours:
    """Who is near whom among unit vectors: cosine of at least ``floor``, at most the ``most`` nearest of each."""
    rows, others, counts = [], [], []
    for start in range(0, len(vectors), _BLOCK):
        cosines = vectors[start : start + _BLOCK] @ vectors.T
        own = np.arange(len(cosines))
        cosines[own, own + start] = -1.0
        count = (cosines >= floor).sum(axis=1)
        crowded = np.flatnonzero(count > most)
        if len(crowded):
            kept = np.argpartition(cosines[crowded], -most, axis=1)[:, -most:]
            thinned = np.full((len(crowded), len(vectors)), -1.0, dtype=np.float32)
            np.put_along_axis(thinned, kept, np.take_along_axis(cosines[crowded], kept, axis=1), axis=1)
            cosines[crowded] = thinned
        row, other = np.nonzero(cosines >= floor)
        # Rounded, so that equal texts are in one order on every machine.
        order = np.lexsort((other, -np.round(cosines[row, other], 4), row))
        rows.append(row[order] + start)
        others.append(other[order])
        counts.append(count)
    placed = np.concatenate(rows) if rows else np.empty(0, dtype=np.intp)
    starts = np.searchsorted(placed, np.arange(len(vectors) + 1))
    return Neighbours(starts, np.concatenate(others), np.concatenate(counts))
