"""How many requests a key may make in a minute.

Counts live in the broker, so that all processes share them: one increment a request, in windows aligned with the
clock. When the broker is away each process counts for itself and asks again after a pause; a request never waits
longer than the socket timeout, and that at most once a pause.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

from limits.errors import StorageError
from limits.storage import MemoryStorage, RedisStorage

from memoryhub.lib.broker import SOCKET_SECONDS, no_retry, redis_url
from memoryhub.lib.errors import HubError, Kind
from memoryhub.lib.metrics import RATE_LIMIT_FALLBACKS, RATE_LIMITED

WINDOW_SECONDS = 60
_PAUSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Policy:
    """``quota`` requests a minute under the name that the headers show; 0 means no limit."""

    name: str
    quota: int


@dataclass(frozen=True, slots=True)
class Standing:
    """What is left of a window after this request."""

    policy: Policy
    used: int
    reset_seconds: int

    @property
    def remaining(self) -> int:
        """Requests left in this window."""
        return max(0, self.policy.quota - self.used)

    @property
    def headers(self) -> dict[str, str]:
        """RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers)."""
        name = self.policy.name
        return {
            "RateLimit-Policy": f'"{name}";q={self.policy.quota};w={WINDOW_SECONDS}',
            "RateLimit": f'"{name}";r={self.remaining};t={self.reset_seconds}',
        }


class RateLimited(HubError):
    """This key has used up its requests for this minute; wait as long as Retry-After says."""

    code: ClassVar[str] = "rate_limited"
    kind: ClassVar[Kind] = Kind.RATE_LIMITED

    def __init__(self, standing: Standing) -> None:
        super().__init__(extra={"policy": standing.policy.name, "retry_after": standing.reset_seconds})
        self.standing = standing


class RateLimiter:
    """Counts requests by key and policy in the broker, or in this process while the broker is away."""

    def __init__(self, broker_url: str | None) -> None:
        self._shared = _broker_storage(broker_url) if broker_url else None
        self._own = MemoryStorage()
        self._ask_again_at = 0.0

    def spend(self, policy: Policy, key: str) -> Standing:
        """One request of ``key``. Raises RateLimited (with ``retry_after`` seconds) when the quota is used up."""
        seconds = time.time()
        window, into = divmod(seconds, WINDOW_SECONDS)
        reset = max(1, round(WINDOW_SECONDS - into))
        used = self._count(f"{policy.name}:{key}:{int(window)}")
        standing = Standing(policy, used, reset)
        if used > policy.quota > 0:
            RATE_LIMITED.labels(policy.name).inc()
            raise RateLimited(standing)
        return standing

    def _count(self, name: str) -> int:
        if self._shared is not None and time.monotonic() >= self._ask_again_at:
            try:
                return self._shared.incr(name, WINDOW_SECONDS * 2)
            except StorageError:
                self._ask_again_at = time.monotonic() + _PAUSE_SECONDS
                RATE_LIMIT_FALLBACKS.inc()
        return self._own.incr(name, WINDOW_SECONDS * 2)


def _broker_storage(broker_url: str) -> RedisStorage:
    """Connects with its first count, not now."""
    url = redis_url(broker_url)
    return RedisStorage(
        f"redis+{url}" if url.startswith("unix://") else url,
        wrap_exceptions=True,
        socket_timeout=SOCKET_SECONDS,
        socket_connect_timeout=SOCKET_SECONDS,
        retry=no_retry(),  # type: ignore[arg-type]
    )
