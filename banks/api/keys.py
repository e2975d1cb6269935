"""API keys: issue, list, rotate, revoke. A secret appears in one answer only."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from django.http import HttpResponse
from ninja import Router
from pydantic import Field

from banks.access import KeyScope
from banks.api.requests import ApiRequest
from banks.api.shapes import KeyList, KeyOut, NewKeyOut, key_out, new_key_out
from banks.services import keys
from banks.services.agents import UnknownAgent
from banks.services.banks import UnknownBank
from banks.services.drafts import KeyDraft
from banks.services.keys import KeyNotLive, WiderThanCreator
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.strict import StrictModel

router = Router()

HOURS_MAX = 24 * 30


class Rotation(StrictModel):
    """How long the old key stays valid beside the new one."""

    model_config = shown({"overlap_hours": 24})

    overlap_hours: Annotated[int, Field(ge=0, le=HOURS_MAX, strict=True)] = 24


@router.get("/keys", response=KeyList, **told("List keys", KeyScope.KEYS_ADMIN))
def list_keys(request: ApiRequest) -> HttpResponse:
    """The vault's keys, newest first."""
    return json_answer({"items": [key_out(key) for key in keys.list_keys(request.access)]})


@router.post(
    "/keys",
    response={201: NewKeyOut},
    **told("Issue a key", KeyScope.KEYS_ADMIN, WiderThanCreator, UnknownBank, UnknownAgent),
)
def create_key(request: ApiRequest, draft: KeyDraft) -> HttpResponse:
    """A new key, limited to what the caller holds; `key` is its secret, shown this once."""
    key, secret = keys.create_key(request.access, draft)
    return json_answer(new_key_out(key, secret), 201)


@router.get("/keys/{key_id}", response=KeyOut, **told("Read a key", KeyScope.KEYS_ADMIN))
def get_key(request: ApiRequest, key_id: str) -> HttpResponse:
    """One key by id."""
    return json_answer(key_out(keys.get_key(request.access, key_id)))


@router.post(
    "/keys/{key_id}/rotate",
    response={201: NewKeyOut},
    **told("Rotate a key", KeyScope.KEYS_ADMIN, WiderThanCreator, KeyNotLive),
)
def rotate_key(request: ApiRequest, key_id: str, rotation: Rotation = Rotation()) -> HttpResponse:  # noqa: B008
    """A successor with the same rights; the old key ends after the overlap."""
    key, secret = keys.rotate_key(request.access, key_id, dt.timedelta(hours=rotation.overlap_hours))
    return json_answer(new_key_out(key, secret), 201)


@router.delete("/keys/{key_id}", response={204: None}, **told("Revoke a key", KeyScope.KEYS_ADMIN))
def revoke_key(request: ApiRequest, key_id: str) -> HttpResponse:
    """End a key at once; revoking it twice is fine."""
    keys.revoke_key(request.access, key_id)
    return HttpResponse(status=204)
