"""A breaker for calls that somebody waits for: after a few failures in a row it says no for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Breaker:
    """Closed until ``failures`` calls in a row failed; then open for ``seconds``, then one call may try again."""

    def __init__(self, failures: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._seconds, self._clock = failures, seconds, clock
        self._lock = threading.Lock()
        self._failed = 0
        self._open_until = 0.0

    def admits(self) -> bool:
        """Whether a call may go now. Whoever is let through after a pause is the only one until it reports."""
        with self._lock:
            if self._failed < self._limit:
                return True
            if self._clock() < self._open_until:
                return False
            self._open_until = self._clock() + self._seconds
            return True

    def succeeded(self) -> None:
        """The call was answered: closed again."""
        with self._lock:
            self._failed = 0

    def failed(self) -> None:
        """The call failed."""
        with self._lock:
            self._failed += 1
            if self._failed >= self._limit:
                self._open_until = self._clock() + self._seconds
