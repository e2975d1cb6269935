"""Webhooks by the Standard Webhooks spec: what is signed, when a delivery is tried again, when an endpoint is given up.

https://github.com/standard-webhooks/standard-webhooks, version 1.0.0.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hashlib
import hmac
import random
from collections.abc import Sequence
from enum import StrEnum
from urllib.parse import urlsplit

SECRET_PREFIX = "whsec_"
#: Attempts of one delivery after the first, so long after the one before: a day and a bit in all.
PAUSES = tuple(dt.timedelta(seconds=seconds) for seconds in (5, 60, 300, 1_800, 7_200, 18_000, 28_800, 36_000))
ATTEMPTS = len(PAUSES) + 1
#: An endpoint that has answered nothing well for so long is switched off.
GIVEN_UP_AFTER = dt.timedelta(days=5)
#: How long the old secret still signs beside the new one.
OVERLAP = dt.timedelta(hours=24)
URL_MAX = 2_000
#: Characters of an answer that are kept: enough to see an error page's first sentence.
ANSWER_MAX = 500


class WebhookState(StrEnum):
    """Whether an endpoint is called: by nobody's wish, an operator's leave, or after too long a silence it is not."""

    ACTIVE = "active"
    PAUSED = "paused"
    BLOCKED = "blocked"
    DISABLED = "disabled"


class DeliveryState(StrEnum):
    """Where one delivery stands."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


def encoded_secret(key: bytes) -> str:
    """A secret as receivers take it."""
    return SECRET_PREFIX + base64.b64encode(key).decode()


def signature(secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> str:
    """The header ``webhook-signature``: one signature for each secret, separated by blanks."""
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return " ".join(f"v1,{_signed(secret, signed)}" for secret in secrets)


def _signed(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    return base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def is_secret(text: str) -> bool:
    """Whether a secret somebody brings along has the form and 24 to 64 bytes."""
    if not text.startswith(SECRET_PREFIX):
        return False
    try:
        return 24 <= len(base64.b64decode(text.removeprefix(SECRET_PREFIX), validate=True)) <= 64
    except (binascii.Error, ValueError):
        return False


def pause_after(attempts: int) -> dt.timedelta | None:
    """How long to wait after so many attempts, a fifth more or less so that many do not come back together.

    None when there are no more.
    """
    if attempts > len(PAUSES):
        return None
    return PAUSES[attempts - 1] * random.uniform(0.8, 1.2)


def rest_after(failures: int) -> dt.timedelta:
    """How long a whole endpoint is left alone after so many failures in a row: one that hangs is asked rarely."""
    return dt.timedelta(seconds=min(3_600, 2 ** min(failures, 12)) * random.uniform(0.8, 1.2))


def fault_of(url: str) -> str | None:
    """Why an address cannot be called, None when its form is fine; where it leads is looked up later."""
    if len(url) > URL_MAX:
        return f"is longer than {URL_MAX:,} characters"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not an address"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "must begin with https:// or http:// and name a host"
    if "@" in parts.netloc or parts.fragment or port == 0 or any(one.isspace() or ord(one) < 32 for one in url):
        return "must not hold a user, a password, a fragment or blanks"
    return None
