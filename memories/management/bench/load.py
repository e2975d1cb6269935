"""Fills a vault through the front door until it holds as many memories as asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memories.management.bench.client import BenchFailed, HubClient
from memories.management.bench.words import Author

BATCH = 500
JOBS_WITHIN = 900.0


@dataclass(frozen=True)
class Filling:
    """How the filling went; ``seconds`` covers only the requests themselves."""

    written: int
    created: int
    seconds: float


def fill(client: HubClient, author: Author, target: int, advance: Callable[[int], None]) -> Filling:
    """Write batches until the vault holds ``target`` memories; ``advance`` hears how many more there are."""
    there = held(client)
    advance(min(there, target))
    written, created, seconds = 0, 0, 0.0
    for start, size in _batches(there, target):
        answer = client.post("/api/v1/memories/batch", {"items": [author.memory(start + n) for n in range(size)]})
        outcomes = [row.get("outcome") for row in answer.json()["results"]]
        if None in outcomes:
            raise BenchFailed(f"A memory of the batch was refused: {answer.body[:500].decode(errors='replace')}")
        written, created, seconds = written + size, created + outcomes.count("created"), seconds + answer.seconds
        advance(size)
    return Filling(written, created, seconds)


def held(client: HubClient) -> int:
    """How many memories of any status the key's vault holds."""
    total = client.get("/api/v1/memories?limit=1&status=any&archived=any").json()["total"]
    return int(total)


def wait_for_jobs(client: HubClient) -> float:
    """Seconds until no job waits or runs, so that the index is whole before anything is measured."""
    started = time.monotonic()
    while time.monotonic() - started < JOBS_WITHIN:
        waiting = [
            client.get(f"/api/v1/jobs?state={state}&limit=1").json()["items"] for state in ("pending", "running")
        ]
        if not any(waiting):
            return time.monotonic() - started
        time.sleep(0.2)
    raise BenchFailed(f"Jobs are still waiting after {JOBS_WITHIN:.0f} s; see /jobs/.")


def _batches(start: int, end: int) -> Iterator[tuple[int, int]]:
    return ((first, min(BATCH, end - first)) for first in range(start, end, BATCH))
