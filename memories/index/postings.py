"""Packed postings: for one keyed term and one chunk of 8,192 documents, which documents hold it, how often, how long
they are. Pure; a body is three planes of equal length: offsets (uint16), counts (uint8), document lengths (uint16).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CHUNK = 8_192
_LONGEST = 65_535
_BYTES = 5


@dataclass(frozen=True, slots=True)
class Postings:
    """Documents of one chunk that hold a term, ascending by offset."""

    offsets: NDArray[np.uint16]
    counts: NDArray[np.uint8]
    lengths: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.offsets)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One document's part in a term: offset in its chunk, how often, how long the document is in tokens."""

    offset: int
    count: int
    length: int


def chunk_of(doc_no: int) -> int:
    """The chunk a document lies in."""
    return doc_no // CHUNK


def unpack(body: bytes | memoryview) -> Postings:
    """The postings in a body. Raises ValueError when it is not one."""
    size, rest = divmod(len(body), _BYTES)
    if rest:
        raise ValueError(f"a body of {len(body)} bytes is not whole postings")
    return Postings(
        np.frombuffer(body, np.uint16, size, 0),
        np.frombuffer(body, np.uint8, size, 2 * size),
        np.frombuffer(body, np.uint16, size, 3 * size),
    )


def unpack_all(bodies: Sequence[bytes]) -> tuple[Postings, NDArray[np.int64]]:
    """The postings of several bodies, one after the other, and how many are of each. Raises ValueError as above."""
    sizes = np.array([len(body) for body in bodies], np.int64) // _BYTES
    if (sizes * _BYTES).sum() != sum(map(len, bodies)):
        raise ValueError("a body is not whole postings")
    cuts = [(body, 2 * size, 3 * size) for body, size in zip(bodies, sizes.tolist(), strict=True)]
    planes = Postings(
        np.frombuffer(b"".join([body[:first] for body, first, _ in cuts]), np.uint16),
        np.frombuffer(b"".join([body[first:second] for body, first, second in cuts]), np.uint8),
        np.frombuffer(b"".join([body[second:] for body, _, second in cuts]), np.uint16),
    )
    return planes, sizes


def pack(occurrences: Sequence[Occurrence]) -> bytes:
    """The body for occurrences of one term in one chunk; offsets must differ."""
    ordered = sorted(occurrences, key=lambda occurrence: occurrence.offset)
    return b"".join(
        (
            np.array([item.offset for item in ordered], np.uint16).tobytes(),
            np.array([min(item.count, 255) for item in ordered], np.uint8).tobytes(),
            np.array([min(item.length, _LONGEST) for item in ordered], np.uint16).tobytes(),
        )
    )


def merged(body: bytes | memoryview | None, added: Sequence[Occurrence]) -> bytes:
    """The body with ``added``; a document that is there already is replaced."""
    there = {item.offset: item for item in occurrences_of(body)} if body else {}
    return pack(list((there | {item.offset: item for item in added}).values()))


def without(body: bytes | memoryview, offsets: Collection[int]) -> bytes:
    """The body without these documents; empty when they were the last."""
    return pack([item for item in occurrences_of(body) if item.offset not in offsets])


def occurrences_of(body: bytes | memoryview) -> list[Occurrence]:
    """A body one by one."""
    found = unpack(body)
    planes = zip(found.offsets.tolist(), found.counts.tolist(), found.lengths.tolist(), strict=True)
    return [Occurrence(offset, count, length) for offset, count, length in planes]
