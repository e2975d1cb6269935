"""How much makes room: what is needed, a batch at a time, never most of a small store."""

from __future__ import annotations

import pytest

from memories.rules.pruning import how_many


@pytest.mark.parametrize(
    "current, limit, batch, expected",
    [
        (10_000, None, 10, 0),
        (199, 200, 10, 0),
        (200, 200, 10, 0),
        (201, 200, 10, 10),
        (201, 200, 1, 1),
        (201, 200, 1_000, 20),
        (260, 200, 10, 60),
        (6, 5, 10, 1),
        (1, 1, 10, 0),
    ],
)
def test_how_many(current, limit, batch, expected):
    """PRN-02, PRN-06, PRN-11, DEF-09."""
    assert how_many(current, limit, batch) == expected
