"""Who the caller is, for agents that were handed a key and nothing else."""

from __future__ import annotations

from django.http import HttpResponse
from ninja import Router

from banks.api.requests import ApiRequest
from banks.api.shapes import WhoAmI, who_am_i
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.told import told

router = Router()


@router.get("/whoami", response=WhoAmI, **told("Ask who the caller is", None))
def whoami(request: ApiRequest) -> HttpResponse:
    """The vault, the agent and the scopes behind this key."""
    return json_answer(who_am_i(request.access))
