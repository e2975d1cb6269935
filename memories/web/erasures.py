"""Erasures in the browser: their receipts, and erasing everything about somebody: counted first, then confirmed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from memories.rules.erasure import ErasureDraft
from memories.services.erasingsubjects import Counted, count_subject, erase_everything
from memories.services.receipts import list_receipts, verify_receipt
from memories.web.activity import activity_tabs
from memories.web.rows import State
from memoryhub.lib.errors import Invalid
from memoryhub.lib.pages import SeeOther, answer_page, say

if TYPE_CHECKING:
    from django.http import HttpResponse

    from memories.models import ErasureReceipt
    from memories.web.requests import HubRequest

PAGE = 50
KINDS = (("user_id", "User"), ("agent_id", "Agent"), ("session_id", "Session"))


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """A receipt as the table shows it."""

    receipt: ErasureReceipt
    state: State
    removed: list[tuple[str, int]]


def erasures(request: HubRequest) -> HttpResponse:
    """The receipts; with a subject in the address also how much there is of it, which changes nothing."""
    kind, name = request.GET.get("kind", "user_id"), request.GET.get("name", "").strip()
    may_erase = request.access.has(KeyScope.MEMORIES_ERASE)
    counted, mistake = _counted(request, kind, name) if may_erase and name else (None, "")
    context = {
        "rows": [_row(receipt) for receipt in list_receipts(request.access, PAGE)],
        "tabs": activity_tabs("erasures"),
        "kinds": KINDS,
        "kind": kind,
        "name": name,
        "counted": counted,
        "mistake": mistake,
        "may_erase": may_erase,
    }
    return answer_page(request, "memories/erasures.html", context)


def _counted(request: HubRequest, kind: str, name: str) -> tuple[Counted | None, str]:
    try:
        return count_subject(request.access, *ErasureDraft.parse({kind: name}).subject), ""
    except Invalid as error:
        return None, error.errors[0].detail if error.errors else error.message


@require_POST
def erase(request: HubRequest) -> HttpResponse:
    """Have everything that was counted erased; refused when there is more or less by now."""
    count = request.POST.get("expected_count", "")
    draft = ErasureDraft.parse(
        {
            request.POST.get("kind", ""): request.POST.get("name", ""),
            "dry_run": False,
            "expected_count": int(count) if count.isdecimal() and len(count) < 10 else None,
        }
    )
    erase_everything(request.access, *draft.subject, draft.expected_count or 0)
    say(request, "It is being erased. The receipt is signed when everything is gone.")
    return SeeOther(reverse("erasures"))


def erasure(request: HubRequest, receipt_id: UUID) -> HttpResponse:
    """One receipt, to be kept: what it counts, its signature, and whether it still holds."""
    found = verify_receipt(request.access, receipt_id)
    signature = bytes(found.receipt.signature or b"").hex()
    context = {"row": _row(found.receipt), "found": found, "signature": signature}
    return answer_page(request, "memories/erasure.html", context)


@require_POST
def verify(request: HubRequest, receipt_id: UUID) -> HttpResponse:
    """Say whether the receipt is genuine and what it names is gone."""
    found = verify_receipt(request.access, receipt_id)
    if found.holds:
        say(request, "The receipt is genuine, and what it names is gone.")
    elif not found.genuine:
        say(request, "This receipt is not what the hub signed, or it is not finished.")
    else:
        say(request, f"{found.still_there} of the memories it names are there again.")
    return SeeOther(reverse("erasures"))


def _row(receipt: ErasureReceipt) -> ReceiptRow:
    done = receipt.finished_at is not None
    state = State("Signed", "circle-check", "ok") if done else State("Under way", "clock", "note")
    removed = [(thing.replace("_", " "), count) for thing, count in receipt.removed.items() if count]
    return ReceiptRow(receipt, state, removed)
