"""Which embedder an environment means."""

from __future__ import annotations

import pytest

from memoryhub.env import Environment
from memoryhub.providers.openai_compatible import OpenAIEmbedder
from memoryhub.providers.registry import make_embedder
from memoryhub.providers.wordllama import WordLlamaEmbedder


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch):
    def make(**variables: str) -> Environment:
        for name, value in variables.items():
            monkeypatch.setenv(f"MEMORYHUB_{name}", value)
        return Environment()

    return make


def test_the_embedded_default(surroundings):
    assert isinstance(make_embedder(surroundings()), WordLlamaEmbedder)


def test_none_means_keyword_search_only(surroundings):
    """DEG-02, GEN-03."""
    assert make_embedder(surroundings(EMBEDDER="none")) is None


def test_openai_takes_its_settings(surroundings):
    embedder = make_embedder(
        surroundings(
            EMBEDDER="openai",
            EMBEDDER_URL="https://embed.example/v1",
            EMBEDDER_MODEL="nomic-embed-text",
            EMBEDDER_KEY="secret-key",
            EMBEDDER_DIMENSIONS="768",
        )
    )
    assert isinstance(embedder, OpenAIEmbedder)
    assert (embedder.name, embedder.model, embedder.dimensions, embedder.local) == (
        "openai",
        "nomic-embed-text",
        768,
        False,
    )
    assert "secret-key" not in repr(vars(embedder))
