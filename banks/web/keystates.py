"""How a key stands: whether it works, and whether that ends soon."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memoryhub.lib.clock import now

if TYPE_CHECKING:
    from banks.models import ApiKey

SOON = dt.timedelta(days=14)


@dataclass(frozen=True, slots=True)
class KeyState:
    """In words and with an icon."""

    live: bool
    label: str
    icon: str
    tone: str = ""


REVOKED = KeyState(False, "Revoked", "ban")
EXPIRED = KeyState(False, "Expired", "timer")
ENDS_SOON = KeyState(True, "Ends soon", "timer", "warn")
NEVER_USED = KeyState(True, "Never used", "circle-dashed", "note")
LIVE = KeyState(True, "Live", "circle-check", "ok")


def state_of(key: ApiKey) -> KeyState:
    """The one thing to know about a key, the most decisive first."""
    at = now()
    if key.revoked_at is not None:
        return REVOKED
    if key.expires_at is not None and key.expires_at <= at:
        return EXPIRED
    if key.expires_at is not None and key.expires_at <= at + SOON:
        return ENDS_SOON
    return NEVER_USED if key.last_used_at is None else LIVE
