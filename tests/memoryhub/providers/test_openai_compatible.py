"""The remote embedder against a real server on the loopback that misbehaves in every way it can."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from memoryhub.lib.net import Limits
from memoryhub.providers.base import Embedder, ProviderError
from memoryhub.providers.endpoint import Endpoint
from memoryhub.providers.openai_compatible import OpenAIEmbedder
from tests import badservice
from tests.badservice import Answer, BadService, Behaviour, bad_service, raw

PATIENCE = Limits(connect=1.0, read=0.3, total=0.6, answer=20_000)


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.0]


def answer_with(vectors: list[Any], **more: Any) -> Answer:
    items = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(vectors)]
    return 200, {}, json.dumps({"object": "list", "data": items, "model": "m", "usage": {}, **more}).encode()


def well_behaved(_service: BadService, question: dict[str, Any]) -> Answer:
    return answer_with([vector(text) for text in question["input"]])


@pytest.fixture
def service() -> Iterator[BadService]:
    with bad_service(well_behaved) as service:
        yield service


@pytest.fixture
def embedder_for(service: BadService) -> Iterator[Callable[..., OpenAIEmbedder]]:
    made: list[OpenAIEmbedder] = []

    def make(**more: Any) -> OpenAIEmbedder:
        given = {"dimensions": 3, "allow_private": True, "key": "k", **more}
        made.append(OpenAIEmbedder(Endpoint(service.url, "m", **given)))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


@pytest.fixture
def embedder(embedder_for: Callable[..., OpenAIEmbedder]) -> OpenAIEmbedder:
    return embedder_for()


@pytest.fixture
def hasty_embedder(embedder_for: Callable[..., OpenAIEmbedder]) -> OpenAIEmbedder:
    return embedder_for(limits=PATIENCE)


def test_unit_vectors_in_the_order_asked(service: BadService, embedder: OpenAIEmbedder):
    assert isinstance(embedder, Embedder)
    texts = ["x" * length for length in range(1, 151)]
    vectors = embedder.embed(texts)
    assert vectors.shape == (150, 3)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert (vectors[:, 0] / vectors[:, 1]) == pytest.approx(np.arange(1, 151), rel=1e-4)
    assert [len(question["input"]) for question in service.asked] == [64, 64, 22]
    assert service.asked[0]["authorization"] == "Bearer k"


def test_order_comes_from_the_index_not_the_place(service: BadService, embedder: OpenAIEmbedder):
    def shuffled(service: BadService, question: dict[str, Any]) -> Answer:
        status, headers, body = well_behaved(service, question)
        document = json.loads(body)
        document["data"].reverse()
        return status, headers, json.dumps(document).encode()

    service.behaviour = shuffled
    vectors = embedder.embed(["a", "bbb"])
    assert vectors[1][0] > vectors[0][0]


def test_blank_texts_are_asked_as_something(service: BadService, embedder: OpenAIEmbedder):
    assert np.isfinite(embedder.embed(["", "  "])).all()
    assert service.asked[0]["input"] == [".", "."]


def test_dimensions_are_learnt_once_when_nobody_says(service: BadService, embedder_for: Callable[..., OpenAIEmbedder]):
    embedder = embedder_for(dimensions=None)
    assert service.asked == []
    assert embedder.dimensions == 3
    assert embedder.dimensions == 3
    assert len(service.asked) == 1


def vectors_of(*rows: Any) -> Behaviour:
    return lambda _service, _question: answer_with(list(rows))


PASSING = badservice.PASSING | {
    "no data": raw(200, b'{"data": null}'),
    "no index": raw(200, b'{"data": [{"embedding": [1, 2, 3]}]}'),
    "words for numbers": vectors_of(["a", "b", "c"]),
    "a number for a vector": vectors_of(7),
    "two vectors for one text": vectors_of([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    "no vector": vectors_of(),
}
LASTING = badservice.LASTING | {
    "too few dimensions": vectors_of([1.0, 2.0]),
    "too many dimensions": vectors_of([1.0, 2.0, 3.0, 4.0]),
    "NaN": vectors_of([1.0, float("nan"), 3.0]),
    "infinity": vectors_of([1.0, float("inf"), 3.0]),
    "beyond float32": vectors_of([1e300, 0.0, 1.0]),
    "zero": vectors_of([0.0, 0.0, 0.0]),
    "null in a vector": vectors_of([1.0, None, 3.0]),
}


@pytest.mark.parametrize("behaviour", PASSING.values(), ids=PASSING.keys())
def test_faults_that_may_pass(service: BadService, hasty_embedder: OpenAIEmbedder, behaviour: Behaviour):
    """DEG-01: every fault is a ProviderError, so search and writes can go on without vectors."""
    service.behaviour = behaviour
    with pytest.raises(ProviderError) as caught:
        hasty_embedder.embed(["tea"])
    assert not caught.value.permanent


@pytest.mark.parametrize("behaviour", LASTING.values(), ids=LASTING.keys())
def test_faults_that_need_a_person(service: BadService, embedder: OpenAIEmbedder, behaviour: Behaviour):
    service.behaviour = behaviour
    with pytest.raises(ProviderError) as caught:
        embedder.embed(["tea"])
    assert caught.value.permanent


def test_no_redirect_is_followed(service: BadService, embedder: OpenAIEmbedder):
    service.behaviour = raw(307, Location="/elsewhere")
    with pytest.raises(ProviderError):
        embedder.embed(["tea"])
    assert service.paths == ["/v1/embeddings"]


def test_a_passing_fault_is_tried_again(service: BadService, embedder_for: Callable[..., OpenAIEmbedder]):
    def once_busy(service: BadService, question: dict[str, Any]) -> Answer:
        return (503, {"Retry-After-Ms": "1"}, b"{}") if len(service.asked) == 1 else well_behaved(service, question)

    service.behaviour = once_busy
    assert embedder_for(retries=1).embed(["tea"]).shape == (1, 3)
    assert len(service.asked) == 2


def test_nobody_there():
    embedder = OpenAIEmbedder(Endpoint("http://127.0.0.1:1/v1", "m", dimensions=3, allow_private=True))
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        embedder.embed(["tea"])
    embedder.close()
    assert not caught.value.permanent


def test_a_private_address_needs_permission(service: BadService, embedder_for: Callable[..., OpenAIEmbedder]):
    with pytest.raises(ProviderError, match=r"127\.0\.0\.1") as caught:
        embedder_for(allow_private=False).embed(["tea"])
    assert caught.value.permanent
    assert service.asked == []


def test_the_surroundings_take_no_part(
    service: BadService, embedder_for: Callable[..., OpenAIEmbedder], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "someone-elses")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    embedder_for(key="").embed(["tea"])
    assert service.asked[0]["authorization"] != "Bearer someone-elses"
