"""``bench cleanup``: a clean-up of most of the store, planned, applied and undone, while somebody searches (CLN)."""

from __future__ import annotations

import datetime as dt
import threading
import time
from typing import Any

from memories.management.bench.client import BenchFailed, HubClient
from memories.management.bench.measure import Bench, Numbers, latencies

#: About seven of ten of the bench's memories.
QUERY = "importance:<=3"
WITHIN = 1_800.0


def measure_cleanup(bench: Bench) -> Numbers:
    """Milliseconds of dry runs, rows a second of applying and undoing, and searches beside them against idle ones."""
    with bench.client() as client:
        numbers = _searches(client, bench, "cleanup.idle_search", bench.requests)
        numbers |= latencies("cleanup.seed_dry_run", [_plan(client, {})[1] for _ in range(3)], warm_up=1)
        plan, seconds = _plan(client, {"query": QUERY})
        numbers |= {"cleanup.dry_run_ms": seconds * 1000, "cleanup.rows": float(plan["count"])}
        if not plan["count"]:
            return numbers
        seen = {"expected_count": plan["count"], "plan_hash": plan["plan_hash"], "confirm_large": True}
        started = client.post(f"/api/v1/cleanup/plans/{plan['id']}/apply", seen).json()
        numbers |= _beside(bench, client, started["job_id"], "cleanup.apply")
        undone = client.post(f"/api/v1/changesets/{started['changeset_id']}/undo", {}).json()
        if undone["job_id"] is not None:
            numbers |= _beside(bench, client, undone["job_id"], "cleanup.undo")
    for verb in ("apply", "undo"):
        if beside := numbers.get(f"cleanup.{verb}.search.p95_ms"):
            numbers[f"cleanup.{verb}.search_times_idle"] = beside / numbers["cleanup.idle_search.p95_ms"]
    return numbers


def _plan(client: HubClient, wish: dict[str, Any]) -> tuple[dict[str, Any], float]:
    answer = client.post("/api/v1/cleanup/plans", wish)
    return answer.json(), answer.seconds


def _searches(client: HubClient, bench: Bench, name: str, count: int) -> Numbers:
    return latencies(name, (_search(client, text) for text in bench.questions(count, name)))


def _search(client: HubClient, text: str) -> float:
    return client.post("/api/v1/memories/search", {"query": text, "top_k": 10}).seconds


def _beside(bench: Bench, client: HubClient, job_id: str, name: str) -> Numbers:
    """Rows a second of a job, and what searches take as long as it runs."""
    taken: list[float] = []
    over = threading.Event()

    def search() -> None:
        with bench.client() as another:
            for text in bench.questions(1_000_000, name):
                if over.is_set():
                    return
                taken.append(_search(another, text))

    searcher = threading.Thread(target=search)
    searcher.start()
    try:
        job = _finished(client, job_id)
    finally:
        over.set()
        searcher.join()
    seconds = (_moment(job["finished_at"]) - _moment(job["started_at"])).total_seconds()
    return {f"{name}.rows_per_second": job["done"] / seconds} | latencies(f"{name}.search", taken)


def _finished(client: HubClient, job_id: str) -> dict[str, Any]:
    deadline = time.monotonic() + WITHIN
    while time.monotonic() < deadline:
        job: dict[str, Any] = client.get(f"/api/v1/jobs/{job_id}").json()
        if job["state"] == "done":
            return job
        if job["state"] in {"dead", "cancelled"}:
            raise BenchFailed(f"The job {job_id} is {job['state']}: {job['error']}")
        time.sleep(0.25)
    raise BenchFailed(f"The job {job_id} is not done after {WITHIN:.0f} s; see /jobs/.")


def _moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)
