"""The MCP door's frame: POST /mcp, or /mcp/banks/{slug} for one bank; a key as for REST."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from banks.services.banks import get_bank
from memories.mcp import answer_mcp
from memories.mcp.calling import Caller
from memoryhub.admission import READS, WRITES, admit, spend
from memoryhub.lib.errors import Denied, Unauthenticated
from memoryhub.middleware.faults import as_hub_error


class ForeignOrigin(Denied):
    """Pages of other sites may not call the hub; a program sends no Origin header."""

    code = "foreign_origin"


@csrf_exempt  # no cookie is looked at
@require_POST  # there is no stream to GET and no session to DELETE
def mcp(request: HttpRequest, bank: str = "") -> HttpResponse:
    """The protocol's answer. Raises ForeignOrigin, Unauthenticated, RateLimited, NotFound for an unknown bank."""
    _refuse_foreign_pages(request)
    access = admit(request, _secret(request), READS)
    if bank:
        access = access.within(get_bank(access, bank).pk)
    caller = Caller(access, lambda: spend(request, access, WRITES), as_hub_error)
    response = answer_mcp(request, caller)
    response.is_told = True  # type: ignore[attr-defined]
    return response


def _refuse_foreign_pages(request: HttpRequest) -> None:
    """A page of another site that was made to resolve to this machine sends its own name as Origin."""
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.get_host():
        raise ForeignOrigin


def _secret(request: HttpRequest) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    secret = token.strip() if scheme.casefold() == "bearer" else request.headers.get("X-API-Key", "").strip()
    if not secret:
        raise Unauthenticated
    return secret
