"""Which embedder and which chat model this process uses."""

from __future__ import annotations

from functools import cache

from memoryhub.env import WORDLLAMA_DIMENSIONS, EmbedderSettings, Environment, environment
from memoryhub.lib.net import Limits
from memoryhub.providers.base import Embedder, ProviderError
from memoryhub.providers.chat import ChatModel
from memoryhub.providers.endpoint import Endpoint
from memoryhub.providers.fake_chat import FakeChatModel
from memoryhub.providers.openai_chat import OpenAIChatModel
from memoryhub.providers.openai_compatible import OpenAIEmbedder
from memoryhub.providers.wordllama import WordLlamaEmbedder

_LONGEST_ANSWER = 4 * 1024 * 1024  # bytes; a chat answer is a few thousand tokens


@cache
def get_embedder() -> Embedder | None:
    """The embedder MEMORYHUB_EMBEDDER names, one per process; None means keyword search only (DEG-02).

    Loads and connects to nothing yet. Raises ProviderError when its settings are incomplete.
    """
    return make_embedder(environment())


def make_embedder(env: Environment) -> Embedder | None:
    """The embedder an environment describes."""
    return _made(env, env.embedding)


@cache
def get_next_embedder() -> Embedder | None:
    """The embedder MEMORYHUB_NEXT_EMBEDDER names: what vaults are re-embedded into. Raises ProviderError."""
    env = environment()
    return _made(env, env.next_embedding) if env.next_embedding is not None else None


def known_embedders() -> list[Embedder]:
    """Every embedder this process can ask: the next one and the configured one, then those that need nothing.

    A vault is searched with whichever fits its space, so that changing the configured one interrupts nothing (DEG-13).
    """
    configured = [one for one in (get_next_embedder(), get_embedder()) if one is not None]
    return [*configured, *(_wordllama(dimensions) for dimensions in WORDLLAMA_DIMENSIONS)]


@cache
def _wordllama(dimensions: int) -> WordLlamaEmbedder:
    return WordLlamaEmbedder(dimensions)


def _made(env: Environment, wanted: EmbedderSettings) -> Embedder | None:
    if wanted.provider == "none":
        return None
    if wanted.provider == "wordllama":
        return _wordllama(wanted.dimensions or WORDLLAMA_DIMENSIONS[0])
    if not wanted.url or not wanted.model:
        raise ProviderError("Set MEMORYHUB_EMBEDDER_URL and MEMORYHUB_EMBEDDER_MODEL.", permanent=True)
    return OpenAIEmbedder(
        Endpoint(
            url=wanted.url,
            model=wanted.model,
            key=wanted.key.get_secret_value() if wanted.key else "",
            dimensions=wanted.dimensions,
            allow_private=wanted.allow_private,
            limits=Limits(total=env.embedder_timeout),
        )
    )


@cache
def get_chat_model() -> ChatModel | None:
    """The chat model MEMORYHUB_LLM names, one per process; None (`extractive`) means that no model is asked (GEN-02).

    Connects to nothing yet. Raises ProviderError when its settings are incomplete.
    """
    return make_chat_model(environment())


def make_chat_model(env: Environment) -> ChatModel | None:
    """The chat model an environment describes."""
    if env.llm == "extractive":
        return None
    if env.llm == "fake":
        return FakeChatModel()
    if not env.llm_url or not env.llm_model:
        raise ProviderError("Set MEMORYHUB_LLM_URL and MEMORYHUB_LLM_MODEL.", permanent=True)
    return OpenAIChatModel(
        Endpoint(
            url=env.llm_url,
            model=env.llm_model,
            key=env.llm_key.get_secret_value() if env.llm_key else "",
            allow_private=env.llm_allow_private,
            limits=Limits(read=env.llm_timeout, total=env.llm_timeout, answer=_LONGEST_ANSWER),
        )
    )
