"""A service on the loopback that misbehaves in every way one can."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

type Answer = tuple[int, dict[str, str], bytes]
type Behaviour = Callable[["BadService", dict[str, Any]], Answer]

DRIP_SECONDS = 0.05


class BadService(ThreadingHTTPServer):
    """Answers every POST as its `behaviour` says and keeps what it was asked."""

    daemon_threads = True

    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behaviour = behaviour
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.closing = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what some of these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: BadService
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.paths.append(self.path)
        self.server.asked.append({**question, "authorization": self.headers.get("Authorization")})
        status, headers, body = self.server.behaviour(self.server, question)
        if "X-Drip-Headers" in headers:
            self._drip(b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * 10_000)
            return
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if "X-Drip" in headers:
            self._drip(body)
        else:
            self.wfile.write(body)

    do_GET = do_POST

    def _drip(self, body: bytes) -> None:
        for byte in body:
            if self.server.closing.wait(DRIP_SECONDS):
                return
            self.wfile.write(bytes([byte]))
            self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def bad_service(behaviour: Behaviour) -> Iterator[BadService]:
    """The service, listening on a free port of this machine."""
    server = BadService(behaviour)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def raw(status: int, body: bytes = b"{}", **headers: str) -> Behaviour:
    """Always the same answer; header names with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _service, _question: (status, named, body)


def hang(service: BadService, _question: dict[str, Any]) -> Answer:
    """Says nothing until the test is over."""
    service.closing.wait(60)
    return 200, {}, b""


PASSING: dict[str, Behaviour] = {
    "500": raw(500),
    "503 with a page": raw(503, b"<html>Bad gateway</html>", Content_Type="text/html"),
    "429": raw(429, Retry_After="60"),
    "HTML": raw(200, b"<!doctype html><p>Please log in", Content_Type="text/html"),
    "truncated JSON": raw(200, b'{"data": [{"index": 0, "embedding": [1.0, 2.'),
    "cut off by the network": raw(200, b'{"data": [', Content_Length="1000"),
    "deep JSON": raw(200, b"[" * 15_000),
    "nothing": raw(200, b""),
    "null": raw(200, b"null"),
    "a list": raw(200, b"[]"),
    "an error object": raw(200, b'{"error": {"message": "model is loading"}}'),
    "too long": raw(200, b" " * 30_000),
    "compressed": raw(200, b"\x1f\x8b", Content_Encoding="gzip"),
    "a hang": hang,
    "slow drip": raw(200, b"x" * 10_000, X_Drip="yes"),
    "slow drip of headers": raw(200, b"", X_Drip_Headers="yes"),
}
"""What any service may do, and may have stopped doing a minute later."""

LASTING: dict[str, Behaviour] = {
    "401": raw(401, b'{"error": {"message": "bad key"}}'),
    "404": raw(404),
    "413": raw(413),
    "redirect": raw(302, Location="http://127.0.0.1:1/elsewhere"),
    "permanent redirect": raw(308, Location="/v2"),
}
"""What a person must put right."""
