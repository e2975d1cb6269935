"""Headers that many routes read or send, described once."""

from __future__ import annotations

from typing import Any

from memoryhub.lib.openapi.told import ETAG, IF_MATCH, IF_NONE_MATCH, LINK, LOCATION

IDEMPOTENCY_KEY = "IdempotencyKey"

PARAMETERS: dict[str, dict[str, Any]] = {
    IDEMPOTENCY_KEY: {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "Makes a repetition harmless: for 24 hours the same request under the same key gets the same "
        "answer and is not done again.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
        "example": "order-4711-note",
    },
    IF_MATCH: {
        "name": "If-Match",
        "in": "header",
        "required": False,
        "description": "The ETag of the version you have seen; any other is refused with 412.",
        "schema": {"type": "string", "pattern": '^(\\*|"v[0-9]{1,9}")$'},
        "example": '"v7"',
    },
    IF_NONE_MATCH: {
        "name": "If-None-Match",
        "in": "header",
        "required": False,
        "description": "The ETag you have; the answer is 304 without a body while it is still the present one.",
        "schema": {"type": "string", "maxLength": 1000},
        "example": '"v7"',
    },
}


def _header(description: str, example: str, *, required: bool = False) -> dict[str, Any]:
    return {"description": description, "required": required, "schema": {"type": "string"}, "example": example}


HEADERS: dict[str, dict[str, Any]] = {
    "X-Request-Id": _header("Names the request in the hub's log.", "5f6d0c1e9a3b4c7d", required=True),
    "RateLimit-Policy": _header(
        "How many requests of this kind a key has, and in how many seconds.", '"reads";q=30000;w=60'
    ),
    "RateLimit": _header(
        "How many of them are left, and after how many seconds the count begins anew.", '"reads";r=29988;t=41'
    ),
    "Retry-After": _header("Seconds to wait before the next attempt.", "21", required=True),
    "WWW-Authenticate": _header("How to send a key.", 'Bearer realm="memoryhub"', required=True),
    "Idempotency-Replayed": _header("`true` on an answer that was given before.", "true"),
    ETAG: _header("The version of what is in the answer, for If-Match and If-None-Match.", '"v7"', required=True),
    LOCATION: _header("Where to read it.", "/api/v1/memories/01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b17", required=True),
    LINK: _header("The pages before and after this one.", '</api/v1/memories?cursor=eyJ2>; rel="next"'),
}
#: On every answer that a live key gets.
ALWAYS = ("X-Request-Id", "RateLimit-Policy", "RateLimit")
PARAMETER_NAMES = frozenset({IF_MATCH, IF_NONE_MATCH})


def reference(kind: str, name: str) -> dict[str, str]:
    """A reference to a component."""
    return {"$ref": f"#/components/{kind}/{name}"}
