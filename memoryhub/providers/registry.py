"""Which embedder this process uses."""

from __future__ import annotations

from functools import cache

from memoryhub.env import Environment, environment
from memoryhub.providers.base import Embedder, ProviderError
from memoryhub.providers.openai_compatible import Endpoint, OpenAIEmbedder
from memoryhub.providers.wordllama import WordLlamaEmbedder


@cache
def get_embedder() -> Embedder | None:
    """The embedder MEMORYHUB_EMBEDDER names, one per process; None means keyword search only (DEG-02).

    Loads and connects to nothing yet. Raises ProviderError when its settings are incomplete.
    """
    return make_embedder(environment())


def make_embedder(env: Environment) -> Embedder | None:
    """The embedder an environment describes."""
    if env.embedder == "none":
        return None
    if env.embedder == "wordllama":
        return WordLlamaEmbedder()
    if not env.embedder_url or not env.embedder_model:
        raise ProviderError("Set MEMORYHUB_EMBEDDER_URL and MEMORYHUB_EMBEDDER_MODEL.", permanent=True)
    return OpenAIEmbedder(
        Endpoint(
            url=env.embedder_url,
            model=env.embedder_model,
            key=env.embedder_key.get_secret_value() if env.embedder_key else "",
            dimensions=env.embedder_dimensions,
            allow_private=env.embedder_allow_private,
        )
    )
