"""Receivers of webhooks that behave in every way receivers do: real servers on real ports."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Receiver:
    """What it got, and how it answers: a status, a place to redirect to, seconds to hang, a body."""

    status: int = 200
    location: str = ""
    hangs: float = 0.0
    body: bytes = b"ok"
    got: list[dict[str, Any]] = field(default_factory=list)
    at: list[float] = field(default_factory=list)
    url: str = ""
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The bodies, in the order they came."""
        return [json.loads(one["body"]) for one in self.got]


@contextmanager
def receiver(**how: Any) -> Iterator[Receiver]:
    """A receiver that listens until the end."""
    it = Receiver(**how)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            it.got.append({"headers": {k.lower(): v for k, v in self.headers.items()}, "body": body, "path": self.path})
            it.at.append(time.time())
            if it.hangs:
                it.released.wait(it.hangs)
            try:
                self.send_response(it.status)
                if it.location:
                    self.send_header("Location", it.location)
                self.send_header("Content-Length", str(len(it.body)))
                self.end_headers()
                self.wfile.write(it.body)
            except OSError:
                pass  # the hub did not wait

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

    server = Server(("127.0.0.1", 0), Handler)
    it.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield it
    finally:
        it.released.set()
        server.shutdown()
        server.server_close()
