"""Every metric the hub has, declared once. Labels are names and codes only: never an id, never content.

Several web processes share one set of numbers when PROMETHEUS_MULTIPROC_DIR names a folder before they start.
"""

from __future__ import annotations

import os

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

_SECONDS = (0.001, 0.002, 0.004, 0.008, 0.012, 0.02, 0.03, 0.06, 0.12, 0.25, 0.5, 1, 2.5, 5, 10)

HTTP_REQUESTS = Counter("memoryhub_http_requests", "Requests answered.", ["method", "route", "status"])
HTTP_SECONDS = Histogram(
    "memoryhub_http_request_seconds", "Time to answer a request.", ["method", "route"], buckets=_SECONDS
)
RATE_LIMITED = Counter("memoryhub_rate_limited", "Requests refused because a key used up its minute.", ["policy"])
RATE_LIMIT_FALLBACKS = Counter(
    "memoryhub_rate_limit_fallbacks", "Times the rate limiter lost the broker and counted in its own process."
)
DATABASE_AWAY = Counter("memoryhub_database_away", "Requests answered 503 because the database could not be reached.")
MEMORIES_WRITTEN = Counter("memoryhub_memories_written", "Writes by what became of them.", ["outcome"])
SEARCHES = Counter("memoryhub_searches", "Searches by whether every leg could take part.", ["degraded"])


def exposition() -> bytes:
    """The numbers of all processes in Prometheus' text format."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if not folder:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=folder)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
