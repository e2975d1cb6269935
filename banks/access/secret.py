"""The shape of an API key: ``mh_live_<8 char id>_<43 chars><6 char checksum>``.

The checksum lets scanners and typing mistakes be told apart from stolen keys without asking the database; the digest
is an HMAC under the hub's pepper, because 256 random bits need no slow hash.
"""

from __future__ import annotations

import re
import secrets as random
import zlib

from memoryhub.env import secrets
from memoryhub.lib.crypto import keyed_hash
from memoryhub.lib.errors import Unauthenticated

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SHAPE = re.compile(r"mh_live_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})", re.ASCII)


class InvalidKey(Unauthenticated):
    """The API key is unknown, expired or revoked; send `Authorization: Bearer <key>` with a live key."""

    code = "invalid_key"


def _base62(number: int, width: int) -> str:
    digits = []
    for _ in range(width):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), 6)


def new_secret() -> tuple[str, str]:
    """A fresh public id and the whole key that carries it."""
    public_id = "".join(random.choice(_ALPHABET) for _ in range(8))
    body = f"mh_live_{public_id}_" + "".join(random.choice(_ALPHABET) for _ in range(43))
    return public_id, body + _checksum(body)


def public_id_of(secret: str) -> str:
    """The id inside a well-formed key. Raises InvalidKey for anything else."""
    match = _SHAPE.fullmatch(secret)
    if not match or _checksum(secret[:-6]) != match.group(3):
        raise InvalidKey
    return match.group(1)


def digest_of(secret: str) -> bytes:
    """What is stored of a key."""
    return keyed_hash(secrets().pepper, b"api-key\0" + secret.encode())
