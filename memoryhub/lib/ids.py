"""Identifiers: UUIDv7 made in Python, because a sealed row needs its id before it is written."""

from __future__ import annotations

import os
import threading
import time
from uuid import UUID

from memoryhub.lib.errors import NotFound

_lock = threading.Lock()
_last_ticks = 0


def _monotonic_ticks() -> int:
    """Milliseconds shifted by 12 bits plus a sub-millisecond fraction, strictly growing within this process."""
    global _last_ticks
    nanoseconds = time.time_ns()
    ticks = (nanoseconds // 1_000_000 << 12) | ((nanoseconds % 1_000_000) * 4096 // 1_000_000)
    with _lock:
        _last_ticks = max(ticks, _last_ticks + 1)
        return _last_ticks


def new_id() -> UUID:
    """A UUIDv7 (RFC 9562, method 3) that sorts after every one this process made before."""
    ticks = _monotonic_ticks()
    random_tail = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    value = (ticks >> 12) << 80 | 0x7 << 76 | (ticks & 0xFFF) << 64 | 0b10 << 62 | random_tail
    return UUID(int=value)


def parse_id(text: object) -> UUID:
    """The UUID in ``text``; nonsense is answered like an unknown id (API-17). Raises NotFound."""
    try:
        return UUID(str(text))
    except ValueError:
        raise NotFound from None


def short_id(identifier: UUID) -> str:
    """Eight characters people can tell apart: the random end, since the front of a UUIDv7 is its time."""
    return identifier.hex[-8:]
