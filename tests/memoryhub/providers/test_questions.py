"""A question is embedded quickly or not at all."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from memoryhub.providers.base import ProviderError
from memoryhub.providers.questions import embed_question
from memoryhub.providers.registry import get_embedder
from tests.badservice import PASSING, Answer, BadService, bad_service, hang, raw
from tests.endpoint import configured


def well_behaved(_service: BadService, question: dict[str, Any]) -> Answer:
    items = [{"index": n, "embedding": [1.0, 2.0]} for n, _ in enumerate(question["input"])]
    return 200, {}, json.dumps({"data": items}).encode()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[BadService]:
    with bad_service(well_behaved) as service:
        settings = {"EMBEDDER": "openai", "EMBEDDER_URL": service.url, "EMBEDDER_MODEL": "m"}
        settings |= {"EMBEDDER_DIMENSIONS": "2", "EMBEDDER_ALLOW_PRIVATE": "true", "EMBEDDER_QUERY_TIMEOUT": "0.5"}
        with configured(monkeypatch, settings):
            yield service


def ask() -> Any:
    embedder = get_embedder()
    assert embedder is not None
    return embed_question(embedder, "tea?")


@pytest.mark.parametrize("behaviour", PASSING.values(), ids=PASSING.keys())
def test_three_failures_and_then_no_waiting(service, behaviour):
    """DEG-01: whatever the service does, the fourth search does not wait for it."""
    service.behaviour = behaviour
    started = time.monotonic()
    for _ in range(3):
        with pytest.raises(ProviderError):
            ask()
    assert time.monotonic() - started < 30  # dripping to the end would take minutes
    for _ in range(10):
        with pytest.raises(ProviderError, match="repeatedly"):
            ask()
    assert len(service.asked) == 3


def test_a_service_that_is_well_again_is_asked_again(service):
    service.behaviour = hang
    with pytest.raises(ProviderError):
        ask()
    service.behaviour = raw(500)
    with pytest.raises(ProviderError):
        ask()
    service.behaviour = well_behaved
    assert ask().shape == (1, 2)
    service.behaviour = raw(500)
    for _ in range(2):
        with pytest.raises(ProviderError):
            ask()
    service.behaviour = well_behaved
    assert ask().shape == (1, 2)


def test_the_embedded_default_has_no_breaker():
    """It cannot be away."""
    embedder = get_embedder()
    assert embedder is not None
    assert embedder.local
    assert embed_question(embedder, "tea?").shape == (1, 256)
