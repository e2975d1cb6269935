"""The bench of clustering, from end to end on a small vault."""

from __future__ import annotations

import pytest
from rich.console import Console

from memories.management.bench.cluster import measure_clustering

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_says_how_long_it_took_and_how_much_memory():
    told = measure_clustering(120, seed=1, console=Console(quiet=True))
    assert "120 old memories of one group" in told
    assert "peak" in told
    assert "clusters of" in told
