"""Embedding a question while its asker waits: quickly or not at all (DEG-01)."""

from __future__ import annotations

from functools import cache

from memoryhub.env import environment
from memoryhub.lib.breaker import Breaker
from memoryhub.lib.net import within
from memoryhub.providers.base import Embedder, ProviderError, Vectors

_FAILURES, _PAUSE_SECONDS = 3, 15.0


@cache
def question_breaker() -> Breaker:
    """This process's breaker: a service that hangs costs three searches their patience, not every one."""
    return Breaker(_FAILURES, _PAUSE_SECONDS)


def embed_question(embedder: Embedder, text: str) -> Vectors:
    """The unit vector of a question, of shape (1, dimensions).

    A remote embedder gets MEMORYHUB_EMBEDDER_QUERY_TIMEOUT seconds and one try. Raises ProviderError when it fails,
    and at once while it has just failed repeatedly; search then goes on from words alone.
    """
    if embedder.local:
        return embedder.embed([text])
    breaker = question_breaker()
    if not breaker.admits():
        raise ProviderError("The embedding service failed repeatedly; searches go on without it for a while.")
    try:
        with within(environment().embedder_query_timeout):
            vector = embedder.embed([text])
    except ProviderError:
        breaker.failed()
        raise
    breaker.succeeded()
    return vector
