"""A unit together with what was said around it: its nearest neighbours in the same session, while they are short.

Nothing of a window is stored: its word counts are sums, its vector the direction of a sum. Pure; rows are units in the
order of their conversations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Neighbours on each side, and how long a window may become, in characters: longer ones blur (measured).
SIDE = 2
CHARS_MAX = 1_000

type Integers = NDArray[np.int64]
type Floats = NDArray[np.float64]
type Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Windows:
    """Row → the first and the last row of its window, both included."""

    first: Integers
    last: Integers

    def sums(self, values: Floats) -> Floats:
        """Row → the sum of the values (along axis 0) over its window."""
        running = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
        added: Floats = running[self.last + 1] - running[self.first]
        return added

    def cosines(self, vectors: Vectors, wanted: NDArray[np.float32]) -> Floats:
        """Row → the cosine between ``wanted``, a unit vector, and the sum of its window's vectors; 0 without any.

        The sums themselves are not needed: their lengths follow from the products of neighbours.
        """
        squares = self.sums(np.einsum("ij,ij->i", vectors, vectors).astype(np.float64))
        for step in range(1, 2 * SIDE + 1):
            near = np.zeros(len(vectors))
            near[:-step] = np.einsum("ij,ij->i", vectors[:-step], vectors[step:])
            reach = Windows(self.first, np.maximum(self.last - step, self.first - 1))
            squares += 2 * reach.sums(near)
        lengths = np.sqrt(np.maximum(squares, 0.0))
        along = self.sums((vectors @ wanted).astype(np.float64))
        return np.divide(along, lengths, out=np.zeros(len(vectors)), where=lengths > _NO_LENGTH)


#: Sums of numbers that are zero in truth stay below this.
_NO_LENGTH = 1e-4


def directions(vectors: Floats | Vectors) -> Vectors:
    """Each row divided by its length; zero stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0).astype(np.float32)


def windows_of(chars: Integers, joined: NDArray[np.bool_]) -> Windows:
    """Windows of units of ``chars`` characters; ``joined[n]`` says that row n + 1 follows row n in one session.

    Grows one step at a time, before and after in turn, and to a side no further once a neighbour did not fit.
    """
    count = len(chars)
    rows = np.arange(count)
    first, last = rows.copy(), rows.copy()
    length = chars.astype(np.int64).copy()
    follows = np.concatenate([[False], joined[: max(count - 1, 0)], [False]])
    open_sides = {-1: np.ones(count, np.bool_), 1: np.ones(count, np.bool_)}
    for step in range(1, SIDE + 1):
        for side, is_open in open_sides.items():
            neighbour = rows + side * step
            edge = neighbour + 1 if side < 0 else neighbour
            is_open &= follows[np.clip(edge, 0, count)] & (neighbour >= 0) & (neighbour < count)
            size = chars[np.clip(neighbour, 0, count - 1)]
            is_open &= length + size <= CHARS_MAX
            (first if side < 0 else last)[is_open] = neighbour[is_open]
            length = length + np.where(is_open, size, 0)
    return Windows(first, last)
