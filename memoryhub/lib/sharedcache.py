"""Django's cache in the broker, so that every process counts the same failed log-ins; in this process while it is away.

Only what JSON can hold is kept there (no pickles, which whoever writes to the broker could fill): the moments of
attempts and the locks around them, all that allauth asks for. What a process counted meanwhile stays its own.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.locmem import LocMemCache
from redis import Redis, RedisError

from memoryhub.lib.broker import SOCKET_SECONDS, no_retry, redis_url

if TYPE_CHECKING:
    from collections.abc import Callable

_PAUSE_SECONDS = 5.0


class SharedCache(LocMemCache):
    """``LOCATION`` is Celery's broker URL. A broker that does not answer costs one attempt in five seconds."""

    def __init__(self, name: str, params: dict[str, Any]) -> None:
        super().__init__(name, params)
        self._broker = Redis.from_url(
            redis_url(name), socket_timeout=SOCKET_SECONDS, socket_connect_timeout=SOCKET_SECONDS, retry=no_retry()
        )
        self._ask_again_at = 0.0

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        """The value, or ``default``."""
        name = self._named(key, version)
        found = self._shared(lambda: (self._broker.get(name),))
        if found is None:
            return super().get(key, default, version)
        return default if found[0] is None else json.loads(found[0])

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Whether the key was free."""
        name, text, ms = self._named(key, version), json.dumps(value), self._ms(timeout)
        found = self._shared(lambda: bool(self._broker.set(name, text, px=ms, nx=True)))
        return super().add(key, value, timeout, version) if found is None else found

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        """Kept so long."""
        name, text, ms = self._named(key, version), json.dumps(value), self._ms(timeout)
        if self._shared(lambda: self._broker.set(name, text, px=ms)) is None:
            super().set(key, value, timeout, version)

    def delete(self, key: str, version: int | None = None) -> bool:
        """Whether it was there."""
        name = self._named(key, version)
        found = self._shared(lambda: bool(self._broker.delete(name)))
        return super().delete(key, version) or bool(found)

    def _named(self, key: str, version: int | None) -> str:
        return f"memoryhub:cache:{self.make_and_validate_key(key, version)}"

    def _ms(self, timeout: Any) -> int | None:
        seconds = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        return None if seconds is None else max(1, int(seconds * 1000))

    def _shared[T](self, ask: Callable[[], T]) -> T | None:
        """What the broker says; None while it is away."""
        if time.monotonic() < self._ask_again_at:
            return None
        try:
            return ask()
        except (RedisError, OSError):
            self._ask_again_at = time.monotonic() + _PAUSE_SECONDS
            return None
