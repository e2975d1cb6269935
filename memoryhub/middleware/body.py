"""What the API accepts before anybody parses it: JSON, not too large, nothing a database could not store."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from memoryhub.lib.errors import FieldError, HubError, Invalid, Kind, NotFound
from memoryhub.lib.problems import TooLarge, UnsupportedMediaType
from memoryhub.middleware.faults import answer_fault, speaks_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

MOST_BODY_BYTES = 5 * 1024 * 1024
MOST_DRAINED_BYTES = 16 * 1024 * 1024
MOST_QUERY_BYTES = 16 * 1024
_CHUNK_BYTES = 64 * 1024
_PLAIN = frozenset({"", "identity"})
_UTF8 = frozenset({"", "utf-8", "utf8", "us-ascii"})


class BadLength(HubError):
    """Content-Length is not a number of bytes; send the true length."""

    code: ClassVar[str] = "bad_length"
    kind: ClassVar[Kind] = Kind.MALFORMED


class QueryTooLong(HubError):
    """The query string is too long; send fewer or shorter parameters."""

    code: ClassVar[str] = "query_too_long"
    kind: ClassVar[Kind] = Kind.INVALID


class ApiBodyMiddleware:
    """Refuses early: NUL in path or query anywhere; under /api also other media types and oversized bodies."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        error = _address_error(request)
        if error is None and speaks_json(request):
            error = _body_error(request)
        if error is not None:
            answer = answer_fault(request, error)
            if answer is not None:
                return answer
        if request.method == "HEAD" and speaks_json(request):
            return self._head(request)
        return self.get_response(request)

    def _head(self, request: HttpRequest) -> HttpResponse:
        """What GET would answer, without the body: ninja knows only the methods it was told."""
        request.method = "GET"
        response = self.get_response(request)
        length = str(len(response.content))
        response.content = b""
        response.headers["Content-Length"] = length
        return response


def _address_error(request: HttpRequest) -> HubError | None:
    if "\0" in request.path:
        return NotFound()
    query = request.META.get("QUERY_STRING", "")
    if len(query) > MOST_QUERY_BYTES:
        return QueryTooLong()
    if "%00" in query or "\0" in query:
        return Invalid(errors=[FieldError("/", "unstorable_text", "the query contains NUL; remove it")])
    return None


def _body_error(request: HttpRequest) -> HubError | None:
    if request.META.get("HTTP_TRANSFER_ENCODING", "").lower() == "chunked" and not request.META.get("CONTENT_LENGTH"):
        return _take_chunked(request)
    try:
        length = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return BadLength()
    if length > MOST_BODY_BYTES:
        _drain(request, length)
        return TooLarge()
    return _media_type_error(request) if length > 0 else None


def _media_type_error(request: HttpRequest) -> HubError | None:
    if request.META.get("HTTP_CONTENT_ENCODING", "").lower() not in _PLAIN:
        return UnsupportedMediaType("The body is compressed; send it as it is, without Content-Encoding.")
    media_type, parameters = request.content_type or "", request.content_params or {}
    if media_type != "application/json" or parameters.get("charset", "").lower() not in _UTF8:
        return UnsupportedMediaType()
    return None


def _take_chunked(request: HttpRequest) -> HubError | None:
    """Reads a body without a length, which Django would take for an empty one."""
    body = bytearray()
    read = 0
    while read < MOST_DRAINED_BYTES and (chunk := request.META["wsgi.input"].read(_CHUNK_BYTES)):
        read += len(chunk)
        if read <= MOST_BODY_BYTES:
            body += chunk
    if read > MOST_BODY_BYTES:
        return TooLarge()
    request._body = bytes(body)
    return _media_type_error(request) if body else None


def _drain(request: HttpRequest, length: int) -> None:
    """Reads the body away, so that the client gets to read the answer instead of a broken pipe."""
    left = min(length, MOST_DRAINED_BYTES)
    while left > 0:
        chunk = request.read(min(_CHUNK_BYTES, left))
        if not chunk:
            return
        left -= len(chunk)
