"""Banks: list, create, change, hide (BNK-09 as /api/v1)."""

from __future__ import annotations

from django.http import HttpResponse
from ninja import Router

from banks.access import KeyScope, WholeVaultNeeded
from banks.api.requests import ApiRequest
from banks.api.shapes import BankList, BankOut, bank_out
from banks.services import banks
from banks.services.banks import BankNameTaken, DefaultBankStays
from banks.services.drafts import BankChanges, BankDraft
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.told import told

router = Router()


@router.get("/banks", response=BankList, **told("List banks", KeyScope.MEMORIES_READ))
def list_banks(request: ApiRequest, include_hidden: bool = False) -> HttpResponse:
    """The banks the key reaches, the default first."""
    found = banks.list_banks(request.access, include_hidden=include_hidden)
    return json_answer({"items": [bank_out(bank) for bank in found]})


@router.post(
    "/banks", response={201: BankOut}, **told("Create a bank", KeyScope.BANKS_ADMIN, BankNameTaken, WholeVaultNeeded)
)
def create_bank(request: ApiRequest, draft: BankDraft) -> HttpResponse:
    """A new bank. Names are compared trimmed and without case, and kept as written."""
    return json_answer(bank_out(banks.create_bank(request.access, draft)), 201)


@router.get("/banks/{bank_id}", response=BankOut, **told("Read a bank", KeyScope.MEMORIES_READ))
def get_bank(request: ApiRequest, bank_id: str) -> HttpResponse:
    """One bank by id, slug or name."""
    return json_answer(bank_out(banks.get_bank(request.access, bank_id)))


@router.patch(
    "/banks/{bank_id}",
    response=BankOut,
    **told("Change a bank", KeyScope.BANKS_ADMIN, BankNameTaken, DefaultBankStays, WholeVaultNeeded),
)
def update_bank(request: ApiRequest, bank_id: str, changes: BankChanges) -> HttpResponse:
    """Rename, describe, hide, show again, or make it the default."""
    return json_answer(bank_out(banks.update_bank(request.access, bank_id, changes)))


@router.delete("/banks/{bank_id}", response={204: None}, **told("Hide a bank", KeyScope.BANKS_ADMIN, DefaultBankStays))
def archive_bank(request: ApiRequest, bank_id: str) -> HttpResponse:
    """Hide a bank; its memories stay where they are."""
    banks.archive_bank(request.access, bank_id)
    return HttpResponse(status=204)
