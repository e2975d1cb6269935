"""Packed postings hold what was put in, sorted, and give it back."""

from __future__ import annotations

import pytest

from memories.index.postings import (
    CHUNK,
    Occurrence,
    chunk_of,
    merged,
    occurrences_of,
    pack,
    unpack,
    unpack_all,
    without,
)

ONE, TWO, LAST = Occurrence(1, 2, 30), Occurrence(2, 300, 70_000), Occurrence(CHUNK - 1, 1, 5)


def test_a_body_reads_back_in_order_of_offsets():
    assert occurrences_of(pack([LAST, ONE])) == [ONE, LAST]


def test_counts_and_lengths_are_capped_where_their_columns_end():
    assert occurrences_of(pack([TWO])) == [Occurrence(2, 255, 65_535)]


@pytest.mark.parametrize("size", range(6))
def test_every_size_unpacks_whatever_its_alignment(size):
    body = pack([Occurrence(place, place + 1, 10 * place) for place in range(size)])
    found = unpack(memoryview(body))
    assert len(found) == size
    assert found.offsets.tolist() == list(range(size))
    assert found.lengths.tolist() == [10 * place for place in range(size)]


def test_merging_adds_and_replaces():
    body = merged(pack([ONE, LAST]), [Occurrence(1, 9, 31), Occurrence(5, 1, 8)])
    assert occurrences_of(body) == [Occurrence(1, 9, 31), Occurrence(5, 1, 8), LAST]


def test_taking_out_the_last_leaves_nothing():
    assert occurrences_of(without(pack([ONE, LAST]), {1})) == [LAST]
    assert without(pack([ONE]), {1}) == b""


def test_half_a_posting_is_refused():
    with pytest.raises(ValueError, match="whole postings"):
        unpack(b"1234")


def test_chunks_are_8192_documents():
    assert [chunk_of(number) for number in (0, 8_191, 8_192)] == [0, 0, 1]


def test_several_bodies_are_unpacked_at_once():
    """SRC-03: as each by itself, one after the other."""
    bodies = [pack([Occurrence(n, n % 3 + 1, 10 + n) for n in range(size)]) for size in (3, 0, 5)]
    together, sizes = unpack_all(bodies)
    assert sizes.tolist() == [3, 0, 5]
    for plane in ("offsets", "counts", "lengths"):
        apart = [number for body in bodies for number in getattr(unpack(body), plane).tolist()]
        assert getattr(together, plane).tolist() == apart


def test_bodies_that_are_none_are_refused():
    """SRC-03: rather than read as something else."""
    with pytest.raises(ValueError, match="postings"):
        unpack_all([b"1234"])
