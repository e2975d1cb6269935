"""``bench events``: how soon listeners hear, by long poll and by webhook, with a receiver that hangs beside."""

from __future__ import annotations

import datetime as dt
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg

from memories.management.bench.client import BenchFailed, HubClient
from memories.management.bench.hub import Hub, throwaway_hub

SINGLE, TOLD, BATCH = 200, 1_000, 100
WITHIN = 120.0


def measure_events() -> str:
    """A hub of its own, a listener, two receivers; the numbers as text. Raises BenchFailed."""
    with throwaway_hub() as hub:
        heard = _long_poll(hub)
        told, hung = _webhooks(hub)
    return (
        f"commit to long-poll answer, {len(heard)} events: "
        f"p50 {_share(heard, 0.5):.0f} ms, p95 {_share(heard, 0.95):.0f} ms\n"
        f"webhooks to a healthy receiver, {len(told)} of {TOLD} while another hangs ({hung} calls): "
        f"p50 {_share(told, 0.5) / 1000:.2f} s, p95 {_share(told, 0.95) / 1000:.2f} s, "
        f"last {max(told) / 1000:.2f} s\n"
    )


def _share(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _age(timestamp: str) -> float:
    """Milliseconds since an event was written, which is a little before its commit."""
    return (time.time() - dt.datetime.fromisoformat(timestamp).timestamp()) * 1_000


def _long_poll(hub: Hub) -> list[float]:
    """Ages of single writes when they were heard, each written while somebody waits."""
    ages: list[float] = []

    def listen(after: str) -> None:
        with HubClient(hub.url, hub.key) as client:
            while len(ages) < SINGLE:
                page = client.get(f"/api/v1/events?types=memory.added&wait=20&after={after}").json()
                ages.extend(_age(one["timestamp"]) for one in page["items"])
                after = page["next"]

    with HubClient(hub.url, hub.key) as client:
        start = client.get("/api/v1/events?after=now").json()["next"]
        listener = threading.Thread(target=listen, args=(start,), daemon=True)
        listener.start()
        for number in range(SINGLE):
            client.post("/api/v1/memories", {"content": f"Single event number {number}.", "dedup": False})
            time.sleep(0.07 + number % 7 * 0.01)
        listener.join(WITHIN)
    if len(ages) < SINGLE:
        raise BenchFailed(f"Only {len(ages)} of {SINGLE} events were heard.")
    return ages[:SINGLE]


def _webhooks(hub: Hub) -> tuple[list[float], int]:
    """Ages of events when the healthy receiver got them, each once; how often the hanging one was called."""
    ages: dict[str, float] = {}
    calls: list[str] = []
    done = threading.Event()

    def take(message: str, body: bytes) -> None:
        ages.setdefault(message, _age(json.loads(body)["timestamp"]))
        if len(ages) == TOLD:
            done.set()

    def hang(message: str, _: bytes) -> None:
        calls.append(message)
        done.wait(30)

    with _receiver(take) as healthy, _receiver(hang) as hanging, HubClient(hub.url, hub.key) as client:
        for url in (hanging, healthy):
            client.post("/api/v1/webhooks", {"url": url, "types": ["memory.added"], "private": True})
        _allow(hub)
        time.sleep(4)  # until the hub has noticed that somebody listens
        for first in range(0, TOLD, BATCH):
            items = [{"content": f"Told event number {first + one}.", "dedup": False} for one in range(BATCH)]
            client.post("/api/v1/memories/batch", {"items": items})
        if not done.wait(WITHIN):
            raise BenchFailed(f"Only {len(ages)} of {TOLD} webhooks arrived.")
    return list(ages.values()), len(calls)


def _allow(hub: Hub) -> None:
    """As an operator would on the page of each webhook."""
    with psycopg.connect(hub.database_url or "", autocommit=True) as connection:
        connection.execute("UPDATE memories_webhook SET private_allowed = true, state = 'active'")


@contextmanager
def _receiver(got: object) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            got(str(self.headers["webhook-id"]), body)  # type: ignore[operator]
            try:
                self.send_response(204)
                self.end_headers()
            except OSError:
                pass  # the hub did not wait

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
