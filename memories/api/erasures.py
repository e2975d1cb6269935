"""Erase everything about somebody, and the receipts of what was erased (DESIGN §1)."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router
from pydantic import Field, with_config

from banks.access import KeyScope
from memories.api.requests import ApiRequest
from memories.models import ErasureReceipt
from memories.rules.erasure import ErasureDraft
from memories.rules.vocabulary import ErasureKind
from memories.services import erasingsubjects, receipts
from memories.services.erasingsubjects import ErasureChanged, WholeVaultOnly
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import LOCATION, told

router = Router()


@with_config(
    shown(
        {
            "kind": "user",
            "memory_id": None,
            "session_id": None,
            "erased_at": "2026-11-21T10:15:02Z",
            "removed": {"memories": 35, "sessions": 2},
            "signature": "9f2c41d7",
        }
    )
)
class ReceiptOut(TypedDict):
    """Proof of an erasure: ids and counts, signed with a key of the vault. Without ``erased_at`` it is under way."""

    id: UUID
    kind: Annotated[str, Word(ErasureKind)]
    #: Of a single memory.
    memory_id: UUID | None
    #: Of a single conversation.
    session_id: UUID | None
    vault_id: UUID
    started_at: dt.datetime
    erased_at: dt.datetime | None
    removed: dict[str, int]
    signature: str | None


class ReceiptList(TypedDict):
    """Newest first; ``before`` with the last id gives the next page."""

    items: list[ReceiptOut]


@with_config(shown({"dry_run": True, "count": 37, "memories": 35, "sessions": 2, "messages": 48, "lookups": 7}))
class CountedOut(TypedDict):
    """What a dry run found. ``count`` is what ``expected_count`` must say."""

    dry_run: bool
    count: int
    memories: int
    sessions: int
    messages: int
    lookups: int


@with_config(shown({"holds": True, "genuine": True, "still_there": 0}))
class VerifiedOut(TypedDict):
    """``genuine``: this hub signed exactly that. ``still_there``: how many of the erased memories there are again."""

    holds: bool
    genuine: bool
    still_there: int
    receipt: ReceiptOut


def receipt_out(receipt: ErasureReceipt) -> ReceiptOut:
    """The receipt of an erasure."""
    return {
        "id": receipt.pk,
        "kind": receipt.kind,
        "memory_id": receipt.target_id if receipt.kind == "memory" else None,
        "session_id": receipt.target_id if receipt.kind == "session" else None,
        "vault_id": receipt.vault_id,
        "started_at": receipt.started_at,
        "erased_at": receipt.finished_at,
        "removed": receipt.removed,
        "signature": bytes(receipt.signature).hex() if receipt.signature else None,
    }


@router.post(
    "/erasures",
    response={200: CountedOut, 202: ReceiptOut},
    **told(
        "Erase everything about somebody", KeyScope.MEMORIES_ERASE, ErasureChanged, WholeVaultOnly, headers=[LOCATION]
    ),
)
def erase_everything(request: ApiRequest, wanted: ErasureDraft) -> HttpResponse:
    """Everything about a user, an agent or a session: counted (200), or with `dry_run: false` erased by a job (202)."""
    kind, name = wanted.subject
    if not wanted.dry_run:
        assert wanted.expected_count is not None  # the draft refuses it
        receipt = erasingsubjects.erase_everything(request.access, kind, name, wanted.expected_count)
        return json_answer(receipt_out(receipt), 202, {"Location": f"/api/v1/erasures/{receipt.pk}"})
    counted = erasingsubjects.count_subject(request.access, kind, name)
    body: CountedOut = {
        "dry_run": True,
        "count": counted.count,
        "memories": counted.memories,
        "sessions": counted.sessions,
        "messages": counted.messages,
        "lookups": counted.lookups,
    }
    return json_answer(body)


@router.get("/erasures", response=ReceiptList, **told("List receipts of erasures", KeyScope.OPS_READ))
def list_receipts(
    request: ApiRequest, before: UUID | None = None, limit: Annotated[int, Field(ge=1, le=200)] = 100
) -> HttpResponse:
    """Receipts of erasures, newest first, those under way included."""
    return json_answer({"items": [receipt_out(one) for one in receipts.list_receipts(request.access, limit, before)]})


@router.get("/erasures/{receipt_id}", response=ReceiptOut, **told("Read a receipt", KeyScope.OPS_READ))
def get_receipt(request: ApiRequest, receipt_id: str) -> HttpResponse:
    """One receipt; it is signed as soon as the erasure is done."""
    return json_answer(receipt_out(receipts.get_receipt(request.access, receipt_id)))


@router.get("/erasures/{receipt_id}/verify", response=VerifiedOut, **told("Verify a receipt", KeyScope.OPS_READ))
def verify_receipt(
    request: ApiRequest, receipt_id: str, signature: Annotated[str | None, Field(max_length=128)] = None
) -> HttpResponse:
    """Whether the receipt is genuine and what it names is gone; `signature` compares a copy you kept."""
    found = receipts.verify_receipt(request.access, receipt_id, signature)
    body: VerifiedOut = {
        "holds": found.holds,
        "genuine": found.genuine,
        "still_there": found.still_there,
        "receipt": receipt_out(found.receipt),
    }
    return json_answer(body)
