"""A live hub to call, and a service that answers by a script."""

from __future__ import annotations

import json
import re
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from memoryhub.client import MemoryHub

type Answer = tuple[int, dict[str, str], bytes]


@pytest.fixture
def hub(live_server: Any, secret: str) -> Iterator[MemoryHub]:
    """A client of a real hub, with every scope."""
    with MemoryHub(live_server.url, secret) as client:
        yield client


@dataclass
class Scripted:
    """Answers one after the other, the last one for ever; ``asked`` has what came: method, path, headers, body."""

    answers: list[Answer]
    asked: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)
    url: str = ""

    def answer(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def scripted(answers: Sequence[Answer]) -> Iterator[Scripted]:
    """The service, on a free port of this machine."""
    script = Scripted(list(answers))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            script.asked.append((self.command, self.path, dict(self.headers), json.loads(body) if body else None))
            status, headers, content = script.answer()
            if status == 0:  # hang up without a word
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PATCH = do_DELETE = do_POST

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def service() -> Iterator[Callable[..., Scripted]]:
    """Start a service with these answers; it stops with the test."""
    running: list[Any] = []

    def start(*answers: Answer) -> Scripted:
        context = scripted(answers)
        running.append(context)
        return context.__enter__()

    yield start
    for context in running:
        context.__exit__(None, None, None)


def told(status: int, code: str = "some_code", **more: Any) -> Answer:
    """A problem document as a hub sends it; ``retry_after`` becomes the header."""
    headers = {"Content-Type": "application/problem+json", "X-Request-Id": "request-1"}
    if "retry_after" in more:
        headers["Retry-After"] = str(more.pop("retry_after"))
    body = {"status": status, "code": code, "detail": "Said.", "request_id": "request-1", "errors": [], **more}
    return status, headers, json.dumps(body).encode()


def fine(**body: Any) -> Answer:
    """An answer of 200."""
    return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


FOUND = fine(results=[], degraded=[], took_ms=1.0)


class Wire(socketserver.ThreadingTCPServer):
    """Answers byte by byte, as ``speak`` does: it is given the connection and the head of every request."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, speak: Callable[[socket.socket, bytes], None]) -> None:
        super().__init__(("127.0.0.1", 0), _OnTheWire)
        self.speak = speak
        self.heads: list[bytes] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class _OnTheWire(socketserver.BaseRequestHandler):
    server: Wire

    def handle(self) -> None:
        kept = b""
        while True:
            while b"\r\n\r\n" not in kept:
                try:
                    piece = self.request.recv(65_536)
                except OSError:
                    return
                if not piece:
                    return
                kept += piece
            head, _, kept = kept.partition(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            while length and len(kept) < int(length[1]):
                kept += self.request.recv(65_536)
            kept = kept[int(length[1]) if length else 0 :]
            self.server.heads.append(head)
            try:
                self.server.speak(self.request, head)
            except OSError:
                return  # the other side has had enough, which is what these tests are about


@pytest.fixture
def wire() -> Iterator[Callable[..., Wire]]:
    """Start a service that speaks like this; it stops with the test."""
    running: list[tuple[Wire, threading.Thread]] = []

    def start(speak: Callable[[socket.socket, bytes], None]) -> Wire:
        server = Wire(speak)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()
