"""Conditional requests: ``ETag: "v7"``, If-None-Match, If-Match."""

from __future__ import annotations

import re

from django.http import HttpRequest

from memoryhub.lib.errors import FieldError, Invalid

_TAG = re.compile(r'(?:W/)?"v(\d{1,9})"')
NO_SUCH_VERSION = 0


def expected_version(request: HttpRequest) -> int | None:
    """The version If-Match asks for; None without one or with ``*``; 0, which no memory has, for a foreign tag."""
    header = request.headers.get("If-Match", "").strip()
    if header in ("", "*"):
        return None
    if "," in header:
        raise Invalid(errors=[FieldError("/If-Match", "one_version", 'must name one version, such as "v7"')])
    match = _TAG.fullmatch(header)
    return int(match.group(1)) if match else NO_SUCH_VERSION


def is_known(request: HttpRequest, etag: str) -> bool:
    """Whether If-None-Match says that the caller has this version already."""
    header = request.headers.get("If-None-Match", "")
    tags = {tag.strip().removeprefix("W/") for tag in header.split(",")}
    return etag in tags or "*" in tags
