"""Nothing a listener was promised is lost by kill -9: worker and web, before, during and after a delivery."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import psutil
import psycopg
import pytest

from memories.management.bench.hub import Hub, throwaway_hub

pytestmark = pytest.mark.slow
PATIENCE = 150.0
FEW = 8


class Listener:
    """Takes what comes; ``before`` is done once, with a call in hand that is not answered yet."""

    def __init__(self) -> None:
        self.events: dict[str, set[str]] = defaultdict(set)
        self.calls = 0
        self.before: Callable[[], None] | None = None
        self.url = ""

    @property
    def memories(self) -> set[str]:
        return {event.split()[0] for events in self.events.values() for event in events}


@contextmanager
def listening() -> Iterator[Listener]:
    it, lock = Listener(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                it.calls += 1
                said = f"{body['data']['memory_id']} {body['data']['event_id']}"
                it.events[str(self.headers["webhook-id"])].add(said)
                before, it.before = it.before, None
            if before:
                before()
            with suppress(OSError):  # whoever called may be dead by now
                self.send_response(204)
                self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    it.url = f"http://127.0.0.1:{server.server_address[1]}/"
    try:
        yield it
    finally:
        server.shutdown()
        server.server_close()


def processes(hub: Hub, word: str) -> list[psutil.Process]:
    """The hub's processes of a kind, parents first."""
    assert hub.process is not None
    family = psutil.Process(hub.process).children(recursive=True)
    return [each for each in family if word in " ".join(each.cmdline()) and " beat " not in " ".join(each.cmdline())]


def signalled(hub: Hub, word: str, number: signal.Signals) -> None:
    for each in processes(hub, word):
        with suppress(psutil.NoSuchProcess):
            os.kill(each.pid, number)


def wait_for(condition: Callable[[], object]) -> None:
    until, pause = time.monotonic() + PATIENCE, threading.Event()
    while not condition():
        assert time.monotonic() < until, "it never came true"
        pause.wait(0.1)


class Writer:
    """Writes memories and remembers those that were acknowledged."""

    def __init__(self, hub: Hub) -> None:
        self.hub, self.acknowledged = hub, list[str]()
        self.client = httpx2.Client(headers={"Authorization": f"Bearer {hub.key}"}, timeout=30)

    def close(self) -> None:
        self.client.close()

    def write(self, count: int) -> None:
        for _ in range(count):
            body = {"content": f"Struck {time.monotonic_ns()}.", "dedup": False}
            answer = self.client.post(f"{self.hub.url}/api/v1/memories", json=body)
            self.acknowledged.append(answer.raise_for_status().json()["memory"]["id"])

    def has_written(self, count: int) -> bool:
        """Whether so many were acknowledged."""
        return len(self.acknowledged) >= count

    def heard(self) -> list[str]:
        """The memories the stream tells of, page by page."""
        found, after, more = list[str](), "", True
        while more:
            place = f"&after={after}" if after else ""
            answer = self.client.get(f"{self.hub.url}/api/v1/events?types=memory.added&limit=500{place}")
            page = answer.raise_for_status().json()
            found += [one["data"]["memory_id"] for one in page["items"]]
            after, more = page["next"], page["more"]
        return found


@pytest.fixture(scope="module")
def told() -> Iterator[tuple[Hub, Writer, Listener]]:
    """A hub, somebody who writes, and an endpoint that is told."""
    with throwaway_hub() as hub, listening() as listener, closing(Writer(hub)) as writer:
        draft = {"url": listener.url, "types": ["memory.added"], "private": True}
        writer.client.post(f"{hub.url}/api/v1/webhooks", json=draft).raise_for_status()
        with psycopg.connect(hub.database_url or "", autocommit=True) as connection:
            connection.execute("UPDATE memories_webhook SET private_allowed = true, state = 'active', why = ''")
        writer.write(1)
        wait_for(lambda: listener.memories == set(writer.acknowledged))
        yield hub, writer, listener


def all_told(writer: Writer, listener: Listener) -> None:
    """Every acknowledged write is told, and what is told twice is the same message."""
    wait_for(lambda: listener.memories >= set(writer.acknowledged))
    assert {len(events) for events in listener.events.values()} == {1}, "an id means one event"
    told = [event for events in listener.events.values() for event in events]
    assert len(told) == len(set(told)), "an event has one id"


def test_a_worker_killed_between_commit_and_delivery(told: tuple[Hub, Writer, Listener]):
    """EVT-05: what was committed is told by the next worker."""
    hub, writer, listener = told
    signalled(hub, "celery", signal.SIGSTOP)
    calls = listener.calls
    writer.write(FEW)
    assert listener.calls == calls
    signalled(hub, "celery", signal.SIGKILL)
    all_told(writer, listener)


def test_a_worker_killed_while_it_calls(told: tuple[Hub, Writer, Listener]):
    """EVT-05: a call that was never answered is made again, under the same id."""
    hub, writer, listener = told
    struck = threading.Event()

    def strike() -> None:
        signalled(hub, "celery", signal.SIGKILL)
        struck.set()

    listener.before, calls = strike, listener.calls
    writer.write(FEW)
    assert struck.wait(PATIENCE)
    wait_for(lambda: listener.calls > calls + FEW)  # one of them was told twice
    all_told(writer, listener)


def test_a_worker_killed_between_the_answer_and_its_note(told: tuple[Hub, Writer, Listener]):
    """EVT-05: the answer is on its way to somebody who is dead by then."""
    hub, writer, listener = told
    stopped = threading.Event()

    def stop() -> None:
        signalled(hub, "celery", signal.SIGSTOP)
        stopped.set()

    listener.before, calls = stop, listener.calls
    writer.write(FEW)
    assert stopped.wait(PATIENCE)
    signalled(hub, "celery", signal.SIGKILL)
    wait_for(lambda: listener.calls > calls + FEW)
    all_told(writer, listener)


def test_a_web_process_killed_while_it_writes(told: tuple[Hub, Writer, Listener]):
    """EVT-05: what was acknowledged is in the stream exactly once, and told; nothing else needs to be."""
    hub, writer, listener = told
    done = threading.Event()

    def on() -> None:
        while not done.is_set():
            with suppress(httpx2.HTTPError):
                writer.write(1)

    threads = [threading.Thread(target=on, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        wait_for(partial(writer.has_written, len(writer.acknowledged) + FEW))
        signalled(hub, "granian", signal.SIGKILL)
    wait_for(partial(writer.has_written, len(writer.acknowledged) + FEW))
    done.set()
    for thread in threads:
        thread.join(PATIENCE)
    heard = writer.heard()
    assert len(heard) == len(set(heard))
    assert set(heard) >= set(writer.acknowledged)
    all_told(writer, listener)
