"""Services for tests: one that embeds, as slow and as broken as a test wants it, and a chat model with a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from memoryhub.env import environment
from memoryhub.providers.fake_chat import FakeChatModel
from memoryhub.providers.openai_chat import OpenAIChatModel
from memoryhub.providers.openai_compatible import OpenAIEmbedder
from memoryhub.providers.questions import question_breaker
from memoryhub.providers.registry import get_chat_model, get_embedder, get_next_embedder

DIMENSIONS = 8


class EmbeddingService:
    """Remembers what it was asked; ``hold`` lets one question wait for ``go``, ``status`` makes it refuse."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.status = 200
        self.asked = threading.Semaphore(0)
        self.go = threading.Event()
        self.go.set()
        self.patience = 0
        self.url = ""

    def hold(self, after: int = 0) -> None:
        """Let one question wait for ``go``, after ``after`` more were answered; those behind it pass."""
        self.patience = after
        self.go.clear()

    def answer(self, question: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The answer to one request."""
        texts = question["input"]
        self.texts += texts
        self.patience -= 1
        if self.patience == -1 and not self.go.is_set():
            self.asked.release()
            self.go.wait(60)
        if self.status != 200:
            return self.status, {"error": {"message": "no"}}
        data = [{"object": "embedding", "index": n, "embedding": vector_of(text)} for n, text in enumerate(texts)]
        return 200, {"object": "list", "data": data, "model": "test", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def vector_of(text: str) -> list[float]:
    """The same text gives the same direction; never the zero vector."""
    return [1.0] + [float(byte) for byte in text.encode()[: DIMENSIONS - 1].ljust(DIMENSIONS - 1, b"\x01")]


@contextmanager
def embedding_service() -> Iterator[EmbeddingService]:
    """The service, listening on a free port of this machine."""
    service = EmbeddingService()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer = service.answer(json.loads(body))
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())
            except BrokenPipeError:
                pass  # whoever asked was killed

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield service
    finally:
        service.go.set()
        server.shutdown()
        server.server_close()
        thread.join(10)


@contextmanager
def embedding_with(patch: pytest.MonkeyPatch, service: EmbeddingService) -> Iterator[EmbeddingService]:
    """This process configured to embed with that service, by the environment as an operator would."""
    settings = {"EMBEDDER": "openai", "EMBEDDER_URL": service.url, "EMBEDDER_MODEL": "test"}
    settings |= {"EMBEDDER_DIMENSIONS": str(DIMENSIONS), "EMBEDDER_ALLOW_PRIVATE": "true"}
    with configured(patch, settings):
        yield service


@contextmanager
def chat_model(patch: pytest.MonkeyPatch) -> Iterator[FakeChatModel]:
    """This process configured with the scripted chat model, which is handed out to be scripted."""
    with configured(patch, {"LLM": "fake"}):
        model = get_chat_model()
        assert isinstance(model, FakeChatModel)
        yield model


@contextmanager
def configured(patch: pytest.MonkeyPatch, settings: dict[str, str]) -> Iterator[None]:
    """This process with these MEMORYHUB_ variables, which are read again."""
    for name, value in settings.items():
        patch.setenv(f"MEMORYHUB_{name}", value)
    _forget()
    try:
        yield
    finally:
        patch.undo()
        _forget()


def _forget() -> None:
    for made in (get_embedder, get_next_embedder, get_chat_model):
        if made.cache_info().currsize and isinstance(one := made(), OpenAIEmbedder | OpenAIChatModel):
            one.close()
    for remembered in (environment, get_embedder, get_next_embedder, get_chat_model, question_breaker):
        remembered.cache_clear()
