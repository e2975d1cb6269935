"""When a call is sent again, and after how long. Decides only; whoever sends also waits."""

from __future__ import annotations

import random
from dataclasses import dataclass

from memoryhub.client.errors import HubUnreachable, MemoryHubError

#: A moment later the same request may well succeed.
PASSING = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Retries:
    """At most ``attempts`` in all; pauses double from ``first`` up to ``longest`` seconds, and are drawn at random.

    What the hub asks to wait for is waited for, up to ``patience`` seconds; if it asks for more, the error is raised at
    once with ``retry_after``. Random pauses keep many clients from coming back at the same moment.
    """

    attempts: int = 4
    first: float = 0.2
    longest: float = 5.0
    patience: float = 60.0

    def pause(self, error: MemoryHubError, attempt: int, *, repeatable: bool = True) -> float | None:
        """Seconds to wait after the attempt of this number (from 1) failed; None when it is not sent again."""
        if attempt >= self.attempts or not self._may_pass(error, repeatable):
            return None
        backoff = min(self.longest, self.first * 2 ** (attempt - 1))
        if error.retry_after is None:
            return random.uniform(backoff / 2, backoff)
        if error.retry_after > self.patience:
            return None
        return error.retry_after + random.uniform(0, min(backoff, 1.0))

    @staticmethod
    def _may_pass(error: MemoryHubError, repeatable: bool) -> bool:
        if isinstance(error, HubUnreachable):
            return repeatable or not error.arrived
        if error.status == 429:
            return True
        return repeatable and error.status in PASSING


#: What a client does unless told otherwise.
SOME_RETRIES = Retries()
#: Every error is the caller's at once.
NO_RETRIES = Retries(attempts=1)
