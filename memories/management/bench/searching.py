"""Searches for memories that are there: as agents ask, stage by stage, with filters, and as expensive as they get."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from memories.management.bench.client import Answer, HubClient
from memories.management.bench.measure import Bench, Numbers, latencies, with_computing
from memories.management.bench.store import neighbour_queries

TOP_K = 10
#: Words of one question about common things, and the most a question may have that are scored.
COMMON_WORDS, MANY_WORDS = 6, 48
FILTERS: Mapping[str, Mapping[str, Any]] = {
    "filtered": {"banks": ["Work"], "type": ["fact"], "min_importance": 3},
    "one_user": {"user_id": "user-19"},
    "one_session": {"session_id": "session-7"},
}
"""About one memory in ten, one in four hundred, and twenty-five of them."""


def measure_search(bench: Bench) -> Numbers:
    """Every kind of search on a single vault, and the bare neighbour query on the same rows."""
    with bench.client() as client:
        numbers = with_computing(bench, "search", _plain(client, bench))
        numbers |= _stages(client, bench)
        for name, narrow in FILTERS.items():
            answers = (_search(client, text, narrow) for text in bench.questions(rounds(bench), name))
            numbers |= latencies(f"search.{name}", (answer.seconds for answer in answers), warm_up=3)
        numbers |= _worst(client, bench)
    if bench.hub.database_url:
        bare = latencies("neighbours", neighbour_queries(bench.hub.database_url, min(bench.requests, 200)))
        ratio = numbers["search.p50_ms"] / bare["neighbours.p50_ms"]
        numbers |= bare | {"search.times_neighbours": ratio}
    return numbers


def measure_many(bench: Bench, alone: Bench) -> Numbers:
    """Searches over many vaults: the first in each, which unwraps its key and reads its settings, and later ones.

    ``alone`` is a hub with a single vault of the same size, asked in turns with this one.
    """
    dice = random.Random(bench.layout.seed)
    chosen = dice.sample(range(len(bench.keys)), k=min(len(bench.keys), bench.requests))
    first: list[float] = []
    later: list[float] = []
    for place in chosen:
        with HubClient(bench.hub.url, bench.keys[place]) as client:
            client.get("/health/live")  # not the connection is to be measured
            for taken in (first, later, later):
                taken.append(_search(client, bench.question(place, dice)).seconds)
    with alone.client() as client:
        single = [_search(client, text).seconds for text in alone.questions(2 * len(chosen), "alone")]
    numbers = latencies("search", later, warm_up=0) | latencies("search.first", first, warm_up=1)
    numbers |= latencies("alone.search", single, warm_up=2)
    numbers["search.times_alone"] = numbers["search.p50_ms"] / numbers["alone.search.p50_ms"]
    with bench.client() as client:
        return numbers | _stages(client, bench)


def rounds(bench: Bench) -> int:
    """How often to ask what is asked beside the main question."""
    return max(bench.requests // 4, 10)


def _plain(client: HubClient, bench: Bench) -> Iterator[float]:
    return (_search(client, text).seconds for text in bench.questions(bench.requests, "plain"))


def _stages(client: HubClient, bench: Bench) -> Numbers:
    """p50 and p95 of each stage, as the hub's own trace tells them."""
    taken: dict[str, list[float]] = defaultdict(list)
    for text in bench.questions(rounds(bench), "stages"):
        for stage in _search(client, text, {"explain": True}).json().get("trace") or ():
            taken[stage["name"]].append(stage["ms"] / 1000)
    numbers: Numbers = {}
    for name, seconds in taken.items():
        numbers |= latencies(f"search.stage.{name}", seconds, warm_up=3)
    return numbers


def _worst(client: HubClient, bench: Bench) -> Numbers:
    """Questions of the commonest words there are: a few of them, and as many as are scored."""
    words = bench.author.commonest(MANY_WORDS)
    dice = random.Random(bench.layout.seed)
    few = [" ".join(dice.sample(words[: COMMON_WORDS * 2], k=COMMON_WORDS)) for _ in range(rounds(bench))]
    seconds = [_search(client, text).seconds for text in few]
    many = [_search(client, " ".join(words)).seconds for _ in range(rounds(bench) // 2)]
    return (
        latencies("search.common_words", seconds, warm_up=3)
        | {"search.common_words.worst_ms": max(seconds[3:]) * 1000}
        | latencies("search.many_words", many, warm_up=2)
    )


def _search(client: HubClient, text: str, more: Mapping[str, Any] | None = None) -> Answer:
    return client.post("/api/v1/memories/search", {"query": text, "top_k": TOP_K, **(more or {})})
