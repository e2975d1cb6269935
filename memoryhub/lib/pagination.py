"""Opaque keyset cursors, signed and bound to the query they were made for.

A cursor holds the sort values of the row at the edge of a page and a hash of the query (vault, filters, sort). It is
signed, so nobody can point it elsewhere, and it is refused with another query (``cursor_mismatch``).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.conf import settings

from memoryhub.lib.errors import HubError, Kind

_HASH_BYTES = 12
_SIGNATURE_BYTES = 16
LONGEST_CURSOR = 2048

type Position = Sequence[str | int | float | None]


class CursorInvalid(HubError):
    """The cursor is damaged or was not made by this hub; start again without one."""

    code: ClassVar[str] = "cursor_invalid"
    kind: ClassVar[Kind] = Kind.MALFORMED


class CursorMismatch(HubError):
    """The cursor belongs to another query; send it with the filters and the sort it came from, or start again."""

    code: ClassVar[str] = "cursor_mismatch"
    kind: ClassVar[Kind] = Kind.MALFORMED


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page begins: after ``position``, or before it when ``backward``."""

    position: tuple[str | int | float | None, ...]
    backward: bool = False


def encode_cursor(position: Position, query: str, *, backward: bool = False) -> str:
    """A cursor at ``position``; ``query`` is any text that names vault, filters and sort."""
    payload = json.dumps([int(backward), *position], separators=(",", ":")).encode()
    body = _query_hash(query) + payload
    return base64.urlsafe_b64encode(_sign(body) + body).rstrip(b"=").decode()


def decode_cursor(text: str, query: str) -> Cursor:
    """What ``encode_cursor`` was given. Raises CursorInvalid or CursorMismatch (both 400)."""
    raw = _unpack(text)
    signature, body = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
    if not hmac.compare_digest(signature, _sign(body)):
        raise CursorInvalid
    if not hmac.compare_digest(body[:_HASH_BYTES], _query_hash(query)):
        raise CursorMismatch
    backward, *position = json.loads(body[_HASH_BYTES:])
    return Cursor(tuple(position), backward=bool(backward))


def query_text(*parts: Any) -> str:
    """A canonical text for ``parts`` (plain data, dates, ids) to bind a cursor to."""
    return json.dumps(parts, sort_keys=True, default=str, separators=(",", ":"))


def _unpack(text: str) -> bytes:
    if len(text) > LONGEST_CURSOR:
        raise CursorInvalid
    try:
        return base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise CursorInvalid from None


def _query_hash(query: str) -> bytes:
    return hashlib.sha256(query.encode()).digest()[:_HASH_BYTES]


def _sign(body: bytes) -> bytes:
    key = hashlib.sha256(b"memoryhub cursor\0" + settings.SECRET_KEY.encode()).digest()
    return hmac.digest(key, body, "sha256")[:_SIGNATURE_BYTES]
