"""The remote embedder against a real server on the loopback that misbehaves in every way it can."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from memoryhub.lib.net import Limits
from memoryhub.providers.base import Embedder, ProviderError
from memoryhub.providers.openai_compatible import Endpoint, OpenAIEmbedder

type Answer = tuple[int, dict[str, str], bytes]
type Behaviour = Callable[["Service", dict[str, Any]], Answer]

PATIENCE = Limits(connect=1.0, read=0.3, total=0.6, answer=20_000)


class Service(ThreadingHTTPServer):
    """Answers POST /v1/embeddings as its `behaviour` says and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviour: Behaviour = well_behaved
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.closing = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what some of these tests are about."""


class Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.paths.append(self.path)
        self.server.asked.append({**question, "authorization": self.headers.get("Authorization")})
        status, headers, body = self.server.behaviour(self.server, question)
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if headers.get("X-Drip"):
            for byte in body:
                if self.server.closing.wait(0.05):
                    return
                self.wfile.write(bytes([byte]))
        else:
            self.wfile.write(body)

    do_GET = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        pass


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.0]


def answer_with(vectors: list[Any], **more: Any) -> Answer:
    items = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(vectors)]
    return 200, {}, json.dumps({"object": "list", "data": items, "model": "m", "usage": {}, **more}).encode()


def well_behaved(_service: Service, question: dict[str, Any]) -> Answer:
    return answer_with([vector(text) for text in question["input"]])


@pytest.fixture
def service() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.closing.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def embedder_for(service: Service) -> Iterator[Callable[..., OpenAIEmbedder]]:
    made: list[OpenAIEmbedder] = []

    def make(**more: Any) -> OpenAIEmbedder:
        given = {"dimensions": 3, "allow_private": True, "limits": PATIENCE, "retries": 0, "key": "k", **more}
        made.append(OpenAIEmbedder(Endpoint(f"http://127.0.0.1:{service.server_port}/v1", "m", **given)))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


@pytest.fixture
def embedder(embedder_for: Callable[..., OpenAIEmbedder]) -> OpenAIEmbedder:
    return embedder_for()


def test_unit_vectors_in_the_order_asked(service: Service, embedder: OpenAIEmbedder):
    assert isinstance(embedder, Embedder)
    texts = ["x" * length for length in range(1, 151)]
    vectors = embedder.embed(texts)
    assert vectors.shape == (150, 3)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert (vectors[:, 0] / vectors[:, 1]) == pytest.approx(np.arange(1, 151), rel=1e-4)
    assert [len(question["input"]) for question in service.asked] == [64, 64, 22]
    assert service.asked[0]["authorization"] == "Bearer k"


def test_order_comes_from_the_index_not_the_place(service: Service, embedder: OpenAIEmbedder):
    def shuffled(service: Service, question: dict[str, Any]) -> Answer:
        status, headers, body = well_behaved(service, question)
        document = json.loads(body)
        document["data"].reverse()
        return status, headers, json.dumps(document).encode()

    service.behaviour = shuffled
    vectors = embedder.embed(["a", "bbb"])
    assert vectors[1][0] > vectors[0][0]


def test_blank_texts_are_asked_as_something(service: Service, embedder: OpenAIEmbedder):
    assert np.isfinite(embedder.embed(["", "  "])).all()
    assert service.asked[0]["input"] == [".", "."]


def test_dimensions_are_learnt_once_when_nobody_says(service: Service, embedder_for: Callable[..., OpenAIEmbedder]):
    embedder = embedder_for(dimensions=None)
    assert service.asked == []
    assert embedder.dimensions == 3
    assert embedder.dimensions == 3
    assert len(service.asked) == 1


def raw(status: int, body: bytes = b"{}", **headers: str) -> Behaviour:
    return lambda _service, _question: (
        status,
        {name.replace("_", "-"): value for name, value in headers.items()},
        body,
    )


def vectors_of(*rows: Any) -> Behaviour:
    return lambda _service, _question: answer_with(list(rows))


def text_of(body: str) -> Behaviour:
    return raw(200, body.encode())


PASSING = {
    "500": raw(500),
    "503 with a page": raw(503, b"<html>Bad gateway</html>", Content_Type="text/html"),
    "429": raw(429, Retry_After="0"),
    "HTML": raw(200, b"<!doctype html><p>Please log in", Content_Type="text/html"),
    "truncated JSON": text_of('{"data": [{"index": 0, "embedding": [1.0, 2.'),
    "cut off by the network": raw(200, b'{"data": [', Content_Length="1000"),
    "deep JSON": text_of("[" * 15_000),
    "nothing": text_of(""),
    "null": text_of("null"),
    "a list": text_of("[]"),
    "no data": text_of('{"data": null}'),
    "no index": text_of('{"data": [{"embedding": [1, 2, 3]}]}'),
    "words for numbers": vectors_of(["a", "b", "c"]),
    "a number for a vector": vectors_of(7),
    "two vectors for one text": vectors_of([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    "no vector": vectors_of(),
    "an error object": text_of('{"error": {"message": "model is loading"}}'),
    "too long": raw(200, b" " * 30_000),
    "compressed": raw(200, b"\x1f\x8b", Content_Encoding="gzip"),
    "slow drip": raw(200, b"x" * 200, X_Drip="yes"),
}
LASTING = {
    "401": raw(401, b'{"error": {"message": "bad key"}}'),
    "404": raw(404),
    "413": raw(413),
    "redirect": raw(302, Location="http://127.0.0.1:1/elsewhere"),
    "permanent redirect": raw(308, Location="/v2/embeddings"),
    "too few dimensions": vectors_of([1.0, 2.0]),
    "too many dimensions": vectors_of([1.0, 2.0, 3.0, 4.0]),
    "NaN": vectors_of([1.0, float("nan"), 3.0]),
    "infinity": vectors_of([1.0, float("inf"), 3.0]),
    "beyond float32": vectors_of([1e300, 0.0, 1.0]),
    "zero": vectors_of([0.0, 0.0, 0.0]),
    "null in a vector": vectors_of([1.0, None, 3.0]),
}


@pytest.mark.parametrize("behaviour", PASSING.values(), ids=PASSING.keys())
def test_faults_that_may_pass(service: Service, embedder: OpenAIEmbedder, behaviour: Behaviour):
    """DEG-01: every fault is a ProviderError, so search and writes can go on without vectors."""
    service.behaviour = behaviour
    with pytest.raises(ProviderError) as caught:
        embedder.embed(["tea"])
    assert not caught.value.permanent


@pytest.mark.parametrize("behaviour", LASTING.values(), ids=LASTING.keys())
def test_faults_that_need_a_person(service: Service, embedder: OpenAIEmbedder, behaviour: Behaviour):
    service.behaviour = behaviour
    with pytest.raises(ProviderError) as caught:
        embedder.embed(["tea"])
    assert caught.value.permanent


def test_a_hang_ends(service: Service, embedder: OpenAIEmbedder):
    def hang(service: Service, _question: dict[str, Any]) -> Answer:
        service.closing.wait(30)
        return 200, {}, b""

    service.behaviour = hang
    with pytest.raises(ProviderError) as caught:
        embedder.embed(["tea"])
    assert not caught.value.permanent


def test_no_redirect_is_followed(service: Service, embedder: OpenAIEmbedder):
    service.behaviour = raw(307, Location="/elsewhere")
    with pytest.raises(ProviderError):
        embedder.embed(["tea"])
    assert service.paths == ["/v1/embeddings"]


def test_a_passing_fault_is_tried_again(service: Service, embedder_for: Callable[..., OpenAIEmbedder]):
    def once_busy(service: Service, question: dict[str, Any]) -> Answer:
        return (503, {"Retry-After-Ms": "1"}, b"{}") if len(service.asked) == 1 else well_behaved(service, question)

    service.behaviour = once_busy
    assert embedder_for(retries=1).embed(["tea"]).shape == (1, 3)
    assert len(service.asked) == 2


def test_nobody_there():
    embedder = OpenAIEmbedder(Endpoint("http://127.0.0.1:1/v1", "m", dimensions=3, allow_private=True, retries=0))
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        embedder.embed(["tea"])
    embedder.close()
    assert not caught.value.permanent


def test_a_private_address_needs_permission(service: Service, embedder_for: Callable[..., OpenAIEmbedder]):
    with pytest.raises(ProviderError, match=r"127\.0\.0\.1") as caught:
        embedder_for(allow_private=False).embed(["tea"])
    assert caught.value.permanent
    assert service.asked == []


def test_the_surroundings_take_no_part(
    service: Service, embedder_for: Callable[..., OpenAIEmbedder], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "someone-elses")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    embedder_for(key="").embed(["tea"])
    assert service.asked[0]["authorization"] != "Bearer someone-elses"
