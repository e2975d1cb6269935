"""Questions to language models, and the guard that stops them (GRD-14)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router
from pydantic import Field, with_config

from banks.access import KeyScope, WholeVaultNeeded
from memories.api.requests import ApiRequest
from memories.models import ModelCall
from memories.rules.vocabulary import CallResult, GuardedService, GuardMode, Purpose
from memories.services import modelcalls
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told

router = Router()


@with_config(shown({"service": "chat", "mode": "closed"}))
class GuardOut(TypedDict):
    """One service's guard: ``closed``, ``open`` or ``half_open``; ``errors`` are those that still count."""

    service: Annotated[str, Word(GuardedService)]
    mode: Annotated[str, Word(GuardMode)]
    errors: int
    opened_at: dt.datetime | None
    retry_at: dt.datetime | None
    last_error: str
    changed_at: dt.datetime | None


class GuardList(TypedDict):
    """The guard of each service."""

    items: list[GuardOut]


@with_config(
    shown(
        {
            "purpose": "extract",
            "provider": "openai",
            "model": "gpt-5-mini",
            "result": "ok",
            "tokens_in": 812,
            "tokens_out": 96,
            "took_ms": 640.2,
            "request_id": "5f6d0c1e9a3b4c7d",
        }
    )
)
class ModelCallOut(TypedDict):
    """One question to a language model, or why it was not asked; never its words."""

    id: UUID
    purpose: Annotated[str, Word(Purpose)]
    provider: str
    model: str
    result: Annotated[str, Word(CallResult)]
    reason: str
    detail: str
    tokens_in: int
    tokens_out: int
    took_ms: float
    subjects: list[UUID]
    request_id: str
    created_at: dt.datetime


@with_config(shown({"results": {"ok": 41, "skipped": 3}, "tokens_in": 30120, "tokens_out": 2810}))
class CallCountsOut(TypedDict):
    """All rows of the ledger by result, and the tokens they cost."""

    results: dict[str, int]
    tokens_in: int
    tokens_out: int


class ModelCallList(TypedDict):
    """Newest first; ``before`` with the last id gives the next page."""

    items: list[ModelCallOut]
    counts: CallCountsOut


def _guards_out(views: Sequence[modelcalls.GuardView]) -> GuardList:
    return {
        "items": [
            {
                "service": view.service,
                "mode": view.mode,
                "errors": view.errors,
                "opened_at": view.opened_at,
                "retry_at": view.retry_at,
                "last_error": view.last_error,
                "changed_at": view.changed_at,
            }
            for view in views
        ]
    }


def _call_out(call: ModelCall) -> ModelCallOut:
    return {
        "id": call.pk,
        "purpose": call.purpose,
        "provider": call.provider,
        "model": call.model,
        "result": call.result,
        "reason": call.reason,
        "detail": call.detail,
        "tokens_in": call.tokens_in,
        "tokens_out": call.tokens_out,
        "took_ms": call.took_ms,
        "subjects": call.subjects,
        "request_id": call.request_id,
        "created_at": call.created_at,
    }


@router.get("/guard", response=GuardList, **told("Read the error guards", KeyScope.OPS_READ))
def read_guard(request: ApiRequest) -> HttpResponse:
    """Whether the language model and the embedding service are asked, or paused after repeated errors."""
    return json_answer(_guards_out(modelcalls.read_guard(request.access)))


@router.post("/guard/reset", response=GuardList, **told("Reset the error guards", KeyScope.OPS_WRITE, WholeVaultNeeded))
def reset_guard(request: ApiRequest) -> HttpResponse:
    """Close the guards and forget their errors; what was deferred runs at its next turn."""
    return json_answer(_guards_out(modelcalls.reset_guard(request.access)))


@router.get(
    "/model-calls", response=ModelCallList, **told("List calls of language models", KeyScope.OPS_READ, WholeVaultNeeded)
)
def list_model_calls(
    request: ApiRequest,
    result: CallResult | None = None,
    before: UUID | None = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 100,
) -> HttpResponse:
    """The ledger of questions to language models, newest first."""
    found = modelcalls.list_model_calls(request.access, result, limit, before)
    counts = modelcalls.count_model_calls(request.access)
    spent: CallCountsOut = {
        "results": counts.results,
        "tokens_in": counts.tokens_in,
        "tokens_out": counts.tokens_out,
    }
    return json_answer({"items": [_call_out(call) for call in found], "counts": spent})
