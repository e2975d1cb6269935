"""Data migrations of a filled vault: how fast each is, and whether searches notice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memories.management.bench.client import BenchFailed, HubClient
from memories.management.bench.measure import Bench, Numbers, latencies
from memories.rules.datamigrations import DataMigration, MigrationState

QUESTIONS = 50
MOVES: Sequence[tuple[DataMigration, dict[str, str]]] = (
    (DataMigration.RESEAL, {}),
    (DataMigration.REEMBED, {"target": "wordllama/l2_supercat_128"}),
    (DataMigration.REINDEX, {}),
)

type Found = list[str]


def measure_migrations(bench: Bench) -> Numbers:
    """Each migration while one client searches all the time: rows a second, latencies, and answers that differ.

    An answer is right when it is the one from before the migration or, from the switch on, the one from after it.
    """
    questions = list(bench.questions(QUESTIONS, "moving"))
    numbers: Numbers = {}
    with bench.client() as client:
        for kind, more in MOVES:
            numbers |= _measured(client, questions, kind, more)
    return numbers


def _measured(client: HubClient, questions: Sequence[str], kind: DataMigration, more: dict[str, str]) -> Numbers:
    name = f"migrate.{kind}"
    before, idle = _round(client, questions)
    record = client.post("/api/v1/migrations", {"kind": kind.value, **more}).json()
    asked: list[Found] = []
    seconds: list[float] = []
    while _state(client, record["id"])["state"] == MigrationState.RUNNING:
        found, taken = _round(client, questions)
        asked += found
        seconds += taken
    ended = _state(client, record["id"])
    if ended["state"] != MigrationState.DONE:
        raise BenchFailed(f"{kind} ended as {ended['state']}: {ended['error']}")
    after, _ = _round(client, questions)
    resting = latencies(f"{name}.search_idle", idle, warm_up=3)
    meanwhile = latencies(f"{name}.search", seconds, warm_up=3)
    return (
        resting
        | meanwhile
        | {
            f"{name}.per_second": ended["rows_done"] / ended["duration_ms"] * 1000,
            f"{name}.search_times_idle": meanwhile[f"{name}.search.p95_ms"] / resting[f"{name}.search_idle.p95_ms"],
            f"{name}.answers_wrong": float(_wrong(before, asked, after)),
        }
    )


def _wrong(before: Sequence[Found], asked: Sequence[Found], after: Sequence[Found]) -> int:
    """How many answers are neither the one from before nor the one from after."""
    both = list(zip(before, after, strict=True))
    return sum(found not in both[place % len(both)] for place, found in enumerate(asked))


def _round(client: HubClient, questions: Sequence[str]) -> tuple[list[Found], list[float]]:
    answers = [client.post("/api/v1/memories/search", {"query": text}) for text in questions]
    found = [[hit["id"] for hit in answer.json()["results"]] for answer in answers]
    return found, [answer.seconds for answer in answers]


def _state(client: HubClient, record_id: str) -> dict[str, Any]:
    items: list[dict[str, Any]] = client.get("/api/v1/migrations").json()["items"]
    return next(item for item in items if item["id"] == record_id)
