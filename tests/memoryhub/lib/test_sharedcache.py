"""Processes count failed log-ins together, and each by itself while the broker is away."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache.backends.locmem import LocMemCache

from memoryhub.lib.sharedcache import SharedCache
from tests.brokers import valkey


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a Valkey that runs."""
    with valkey(tmp_path_factory.mktemp("valkey")) as datadir:
        yield datadir.broker_url


def test_what_one_process_counts_another_sees(url: str):
    one, other = SharedCache(url, {}), SharedCache(url, {})
    LocMemCache.clear(one)
    one.set("attempts", [2.5, 1.0], 60)
    assert other.get("attempts") == [2.5, 1.0]
    assert LocMemCache.get(one, "attempts") is None
    assert other.add("lock", True, timeout=10)
    assert not one.add("lock", True, timeout=10)
    assert one.delete("lock")
    assert not other.delete("lock")
    assert one.add("lock", True, timeout=10)
    assert other.get("nothing", "x") == "x"


def test_what_is_kept_ends(url: str):
    cache = SharedCache(url, {})
    cache.set("soon", 1, 60)
    cache.set("later", 1)
    cache.set("always", 1, None)
    name = cache._named
    assert 0 < cache._broker.pttl(name("soon", None)) <= 60_000
    assert 60_000 < cache._broker.pttl(name("later", None)) <= 300_000
    assert cache._broker.pttl(name("always", None)) == -1


def test_a_broker_that_is_away_stops_nothing(tmp_path: Path):
    """DEG-14."""
    cache = SharedCache(f"redis+socket://{tmp_path}/nobody.sock?virtual_host=0", {})
    started = time.perf_counter()
    for attempt in range(20):
        cache.set("attempts", [attempt], 60)
        assert cache.get("attempts") == [attempt]
    assert cache.add("lock", True)
    assert not cache.add("lock", True)
    assert cache.delete("lock")
    assert time.perf_counter() - started < 5  # a second an attempt would be 20
