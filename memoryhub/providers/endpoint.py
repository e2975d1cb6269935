"""An endpoint that speaks OpenAI's API, called through the SDK over the hub's own guarded client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import openai

from memoryhub.lib.net import AddressRefused, AnswerTooLarge, AnswerTooSlow, Limits, open_client
from memoryhub.providers.base import ProviderError

_TRY_AGAIN = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask and how patiently. Only embedders have ``dimensions``; without them the first answer decides."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    dimensions: int | None = None
    allow_private: bool = False
    limits: Limits = field(default_factory=Limits)
    #: None by default: the SDK waits as long as the other side's Retry-After says, up to two minutes. Jobs wait better.
    retries: int = 0


def open_endpoint(endpoint: Endpoint) -> openai.OpenAI:
    """The SDK's client for an endpoint; connects to nothing yet."""
    return openai.OpenAI(
        api_key=endpoint.key or "none",
        base_url=endpoint.url,
        organization="",  # given, so that no OPENAI_* variable of the surroundings takes part
        project="",
        webhook_secret="",
        max_retries=endpoint.retries,
        http_client=open_client(allow_private=endpoint.allow_private, limits=endpoint.limits),
    )


@contextmanager
def failures_named(service: str) -> Iterator[None]:
    """Whatever goes wrong inside becomes a ProviderError that starts with ``service``, as in "The model"."""
    try:
        yield
    except openai.APIStatusError as error:
        status = error.status_code
        permanent = status < 500 and status not in _TRY_AGAIN
        raise ProviderError(f"{service} answered {status}.", permanent=permanent) from error
    except openai.APIConnectionError as error:
        raise ProviderError(f"{service} cannot be reached.") from error
    except (AddressRefused, AnswerTooLarge, AnswerTooSlow) as error:
        raise ProviderError(error.message, permanent=isinstance(error, AddressRefused)) from error
