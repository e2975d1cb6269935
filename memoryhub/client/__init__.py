"""The agents' side: a client of the hub, and the names agents know memory by. Needs no Django.

Nothing is decided here twice: what both sides decide is in ``memories.rules``.
"""

from __future__ import annotations

from memoryhub.client.answers import Answer, Context, Found, Memory, SearchResult, Written
from memoryhub.client.errors import (
    Conflict,
    Denied,
    HubFailed,
    HubTimeout,
    HubUnreachable,
    Invalid,
    Malformed,
    MemoryHubError,
    NotConfigured,
    NotFound,
    RateLimited,
    StaleVersion,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
    Unsupported,
)
from memoryhub.client.hub import AsyncMemoryHub, MemoryHub
from memoryhub.client.retrying import NO_RETRIES, Retries

__all__ = [
    "NO_RETRIES",
    "Answer",
    "AsyncMemoryHub",
    "Conflict",
    "Context",
    "Denied",
    "Found",
    "HubFailed",
    "HubTimeout",
    "HubUnreachable",
    "Invalid",
    "Malformed",
    "Memory",
    "MemoryHub",
    "MemoryHubError",
    "NotConfigured",
    "NotFound",
    "RateLimited",
    "Retries",
    "SearchResult",
    "StaleVersion",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedAnswer",
    "Unsupported",
    "Written",
]
