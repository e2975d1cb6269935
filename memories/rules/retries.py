"""How often and how soon failed work is tried again."""

from __future__ import annotations

import datetime as dt

MAX_ATTEMPTS = 5
_FIRST_SECONDS = 5


def retry_after(attempts: int) -> dt.timedelta:
    """The wait before the next attempt: 5 s, 20 s, 80 s, 320 s after the first, second … failure."""
    return dt.timedelta(seconds=_FIRST_SECONDS * 4 ** (max(attempts, 1) - 1))
