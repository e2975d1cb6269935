"""Every metric the hub has, declared once. Labels are names and codes only: never an id, never content.

Web and worker processes share one set of numbers when PROMETHEUS_MULTIPROC_DIR names a folder before they start
(MET-09); ``up`` does that.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

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
PRUNING_SHORT = Counter("memories_pruning_short", "Writes that passed a limit because all that is left is reserved.")
SEARCHES = Counter("memoryhub_searches", "Searches by whether every leg could take part.", ["degraded"])
ACCESSES_LOST = Counter(
    "memoryhub_accesses_lost", "Lookups missing in the access log and the counts, by why.", ["reason"]
)

# Named by the requirements, so without the hub's prefix (MET-02…06). Never by user (MET-08).
MEMORIES_PRUNED = Counter("memories_pruned", "Memories archived because a limit was reached.", ["strategy"])
MEMORIES_SUMMARIZED = Counter("memories_summarized", "Memories that a summary took the place of.")
LLM_CALLS_SKIPPED = Counter(
    "llm_calls_skipped", "Questions a language model was not asked, and why.", ["purpose", "reason"]
)
EXTRACTION_SHORTCUTS = Counter("extraction_shortcuts", "Preferences saved without extraction (MET-05).")
EXTRACTED_FACTS = Counter("memoryhub_extracted_facts", "Facts found in conversations by what became of them.", ["fate"])
GUARD_ACTIVATIONS = Counter("error_guard_activations", "Times repeated errors opened an error guard.", ["service"])
MODEL_CALLS = Counter("memoryhub_model_calls", "Questions to language models by result.", ["purpose", "result"])
MODEL_TOKENS = Counter(
    "memoryhub_model_tokens", "Tokens sent to and got from language models.", ["purpose", "direction"]
)

# Known beforehand, so there from the first scrape: an alert on a counter that is not there yet stays silent.
for _strategy in ("fifo", "least_relevant", "oldest_accessed"):
    MEMORIES_PRUNED.labels(_strategy)
for _service in ("chat", "embedder"):
    GUARD_ACTIVATIONS.labels(_service)
for _purpose in ("check_update", "dream", "extract", "rerank", "summarize", "summarize_memories"):
    LLM_CALLS_SKIPPED.labels(_purpose, "guard_open")


class _BankDistribution(Collector):
    """MET-01: what the store holds now, so it is asked for and not counted along."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily("memory_bank_distribution", "Memories recall may return, by bank.", labels=["bank"])
        for bank, count in self._counts.items():
            family.add_metric([bank], count)
        yield family


def exposition(memories_by_bank: Mapping[str, int] | None = None) -> bytes:
    """The numbers of all processes in Prometheus' text format, with those of the store where they are given."""
    store = CollectorRegistry()
    store.register(_BankDistribution(memories_by_bank or {}))
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if not folder:
        return generate_latest(REGISTRY) + generate_latest(store)
    processes = CollectorRegistry()
    MultiProcessCollector(processes, path=folder)  # type: ignore[no-untyped-call]
    return generate_latest(processes) + generate_latest(store)
