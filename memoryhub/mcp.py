"""The MCP door's frame: POST /mcp, or /mcp/banks/{slug} for one bank; a key as for REST."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST

from banks.access import Access, Door
from banks.models import Bank
from banks.services.banks import get_bank, list_banks
from memories.mcp import answer_mcp
from memories.mcp.calling import Caller
from memoryhub.admission import READS, WRITES, admit, spend
from memoryhub.lib.answers import json_answer
from memoryhub.lib.errors import Denied, NotFound, Unauthenticated
from memoryhub.middleware.faults import answer_fault, as_hub_error


class ForeignOrigin(Denied):
    """Pages of other sites may not call the hub; a program sends no Origin header."""

    code = "foreign_origin"


@csrf_exempt  # no cookie is looked at
@require_POST  # there is no stream to GET and no session to DELETE
def mcp(request: HttpRequest, bank: str = "") -> HttpResponse:
    """The protocol's answer, also to ForeignOrigin, Unauthenticated, RateLimited and NotFound for an unknown bank."""
    try:
        response = _answered(request, bank)
    except Exception as failure:
        refusal = answer_fault(request, failure)
        if refusal is None:
            raise
        response = _also_for_the_protocol(refusal)
    response.is_told = True  # type: ignore[attr-defined]
    return response


def _answered(request: HttpRequest, bank: str) -> HttpResponse:
    _refuse_foreign_pages(request)
    access = admit(request, _secret(request), READS, Door.MCP)
    if bank:
        access = access.within(_bank(access, bank).pk)
    caller = Caller(access, lambda: spend(request, access, WRITES), as_hub_error)
    return answer_mcp(request, caller)


def _bank(access: Access, slug: str) -> Bank:
    try:
        return get_bank(access, slug)
    except NotFound as error:
        there = ", ".join(f"/mcp/banks/{bank.slug}" for bank in list_banks(access))
        raise NotFound(f"There is no such bank in this vault; there are {there}.") from error


def _also_for_the_protocol(refusal: HttpResponse) -> HttpResponse:
    """The problem, and in the same object the error of the protocol: clients show their people only the latter."""
    problem: dict[str, Any] = json.loads(refusal.content)
    ours = refusal.status_code >= 500
    error = {"code": INTERNAL_ERROR if ours else INVALID_REQUEST, "message": f"{problem['code']}: {problem['detail']}"}
    body = {**problem, "jsonrpc": "2.0", "id": None, "error": error}
    headers = {name: value for name, value in refusal.headers.items() if name != "Content-Type"}
    return json_answer(body, refusal.status_code, headers)


def _refuse_foreign_pages(request: HttpRequest) -> None:
    """A page of another site that was made to resolve to this machine sends its own name as Origin."""
    origin = request.headers.get("Origin")
    if origin is not None and _host_of(origin) != request.get_host():
        raise ForeignOrigin


def _host_of(origin: str) -> str | None:
    """The host and port an Origin names; None when it is no address, which no page of ours sends."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _secret(request: HttpRequest) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    secret = token.strip() if scheme.casefold() == "bearer" else request.headers.get("X-API-Key", "").strip()
    if not secret:
        raise Unauthenticated
    return secret
