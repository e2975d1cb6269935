"""What is measured: every number is taken at the client, over HTTP, except the bare SQL query beside it."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from memories.management.bench.client import HubClient
from memories.management.bench.hub import Hub, processor_seconds, resident_megabytes
from memories.management.bench.layout import Layout
from memories.management.bench.load import BATCH
from memories.management.bench.words import Author

type Numbers = dict[str, float]

WARM_UP = 10
CLIENTS = 4
BATCHES = 6
LISTS = {
    "list.page": "limit=50",
    "list.filtered": "limit=50&bank=Work&type=fact&min_importance=3",
    "list.facets": "limit=50&facets=bank,type,category,status,agent_id,user_id",
    "list.text": "limit=50&q=deadline",
}


@dataclass(frozen=True)
class Bench:
    """A hub with a filled vault, and how much to ask of it."""

    hub: Hub
    layout: Layout
    requests: int
    next_number: int
    """The first memory number not used yet, so that what is written is new and not a duplicate."""
    keys: Sequence[str]
    """A key for each vault, in their order."""

    @cached_property
    def author(self) -> Author:
        """Who wrote what is in the vaults."""
        return Author(self.layout.seed)

    def client(self) -> HubClient:
        """Speaks to the first vault."""
        return HubClient(self.hub.url, self.keys[0])

    def questions(self, count: int, purpose: str) -> Iterator[str]:
        """Questions about memories of the first vault; another purpose asks others."""
        dice = random.Random(f"{self.layout.seed}:{purpose}")
        return (self.question(0, dice) for _ in range(count))

    def question(self, vault: int, dice: random.Random) -> str:
        """A question about some memory of a vault."""
        return self.author.question(vault * self.layout.memories + dice.randrange(self.layout.memories))


def measure_floor(bench: Bench) -> Numbers:
    """The cheapest request there is: what HTTP and this client cost by themselves."""
    with bench.client() as client:
        return latencies("floor", (client.get("/health/live").seconds for _ in range(bench.requests)))


def measure_write(bench: Bench) -> Numbers:
    """Single writes one after the other, then from four clients at once, then batches of 500."""
    one, four, batches = _split(bench)
    outcomes: list[str] = []
    with bench.client() as client:
        numbers = with_computing(bench, "write.one", _writes(client, bench.author, one, outcomes))
        numbers |= _crowd(bench, four, outcomes)
        rates = list(_batch_rates(client, bench.author, batches))
    return numbers | {
        "batch.sustained_per_second": statistics.harmonic_mean(rates),
        "batch.burst_per_second": max(rates),
        "write.created_share": outcomes.count("created") / len(outcomes),
    }


def measure_list(bench: Bench) -> Numbers:
    """The list as a browser asks for it: a page, filtered, with facets, by text, and far down."""
    rounds = max(bench.requests // 4, 5)
    numbers: Numbers = {}
    with bench.client() as client:
        for name, query in LISTS.items():
            answers = (client.get(f"/api/v1/memories?{query}") for _ in range(rounds))
            numbers |= latencies(name, (answer.seconds for answer in answers), warm_up=3)
        return numbers | latencies("list.next_pages", islice(_following(client), rounds), warm_up=0)


def measure_memory(bench: Bench) -> Numbers:
    """Resident megabytes of the largest web and worker process, after the work above."""
    if bench.hub.process is None:
        return {}
    return {f"memory.{kind}_mb": size for kind, size in resident_megabytes(bench.hub.process).items()}


def _split(bench: Bench) -> tuple[range, range, range]:
    """Fresh memory numbers for the three parts of the write measurement."""
    first = bench.next_number
    second = first + bench.requests + WARM_UP
    third = second + bench.requests
    return range(first, second), range(second, third), range(third, third + BATCHES * min(BATCH, bench.layout.memories))


def _crowd(bench: Bench, numbers: range, outcomes: list[str]) -> Numbers:
    """Four clients writing at once, each over a connection of its own."""

    def share(offset: int) -> list[float]:
        with bench.client() as client:
            return list(_writes(client, bench.author, numbers[offset::CLIENTS], outcomes))

    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        seconds = [each for taken in pool.map(share, range(CLIENTS)) for each in taken]
    rate = len(seconds) / (time.perf_counter() - started)
    return latencies("write.four", seconds, warm_up=0) | {"write.four.per_second": rate}


def _writes(client: HubClient, author: Author, numbers: Iterable[int], outcomes: list[str]) -> Iterator[float]:
    for number in numbers:
        answer = client.post("/api/v1/memories", author.memory(number))
        outcomes.append(answer.json()["outcome"])
        yield answer.seconds


def _batch_rates(client: HubClient, author: Author, numbers: range) -> Iterator[float]:
    size = len(numbers) // BATCHES
    for start in range(numbers.start, numbers.stop, size):
        items = [author.memory(number) for number in range(start, start + size)]
        yield size / client.post("/api/v1/memories/batch", {"items": items}).seconds


def _following(client: HubClient) -> Iterator[float]:
    """Page after page through the cursor, from the newest on."""
    path: str | None = "/api/v1/memories?limit=50"
    while path:
        answer = client.get(path)
        yield answer.seconds
        page: dict[str, Any] = answer.json()
        path = f"/api/v1/memories?limit=50&cursor={page['next_cursor']}" if page["next_cursor"] else None


def with_computing(bench: Bench, name: str, seconds: Iterable[float]) -> Numbers:
    """Latencies, and the milliseconds web and database computed for one request."""
    before = processor_seconds(bench.hub.process) if bench.hub.process else {}
    taken = list(seconds)
    after = processor_seconds(bench.hub.process) if bench.hub.process else {}
    spent = {f"{name}.{kind}_cpu_ms": (after[kind] - before[kind]) / len(taken) * 1000 for kind in before}
    return latencies(name, taken) | spent


def latencies(name: str, seconds: Iterable[float], warm_up: int = WARM_UP) -> Numbers:
    """p50 and p95 in milliseconds; the first calls are made and not counted."""
    taken = sorted(list(seconds)[warm_up:])
    if not taken:
        return {}
    return {
        f"{name}.p50_ms": statistics.median(taken) * 1000,
        f"{name}.p95_ms": taken[min(len(taken) - 1, round(0.95 * len(taken)))] * 1000,
        f"{name}.count": float(len(taken)),
    }
