"""Banks: all of them as cards, one of them with its form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse

from banks.access import KeyScope
from banks.services.banks import create_bank, get_bank, list_banks, update_bank
from banks.services.drafts import BankChanges, BankDraft
from banks.web.forms import BankForm
from memoryhub.lib.pages import SeeOther, answer_page, say, submitted

if TYPE_CHECKING:
    from django.http import HttpResponse

    from banks.web.requests import HubRequest


def banks(request: HubRequest) -> HttpResponse:
    """The vault's banks, and the form for one more."""
    form = BankForm(request.POST or None)
    if made := submitted(form, lambda: create_bank(request.access, BankDraft.parse(form.cleaned_data))):
        say(request, f"Bank “{made.name}” is there.")
        return SeeOther(reverse("bank", args=[made.slug]))
    found = list_banks(request.access, include_hidden=True)
    context = {
        "banks": [bank for bank in found if not bank.is_hidden],
        "hidden": [bank for bank in found if bank.is_hidden],
        "form": form,
        "may_change": request.access.has(KeyScope.BANKS_ADMIN),
    }
    return answer_page(request, "banks/banks.html", context, status=422 if form.errors else 200)


def bank(request: HubRequest, slug: str) -> HttpResponse:
    """One bank: what is in it, its name and purpose."""
    found = get_bank(request.access, slug)
    form = BankForm(request.POST or None, initial={"name": found.name, "description": found.description})
    if submitted(form, lambda: update_bank(request.access, slug, BankChanges.parse(form.cleaned_data))):
        say(request, "Saved.")
        return SeeOther(reverse("bank", args=[slug]))
    context = {"bank": found, "form": form, "may_change": request.access.has(KeyScope.BANKS_ADMIN)}
    return answer_page(request, "banks/bank.html", context, status=422 if form.errors else 200)


def _changed(request: HubRequest, slug: str, changes: dict[str, Any], said: str, undo: str) -> HttpResponse:
    changed = update_bank(request.access, slug, BankChanges.parse(changes))
    say(request, said.format(changed.name), undo=reverse(undo, args=[slug]) if undo else "")
    return SeeOther(reverse("bank", args=[slug]))


def hide_bank(request: HubRequest, slug: str) -> HttpResponse:
    """Take it out of the lists; its memories stay."""
    return _changed(request, slug, {"is_hidden": True}, "Bank “{}” is hidden. Its memories stay.", "show_bank")


def show_bank(request: HubRequest, slug: str) -> HttpResponse:
    """Put it back into the lists."""
    return _changed(request, slug, {"is_hidden": False}, "Bank “{}” is shown again.", "hide_bank")


def make_default_bank(request: HubRequest, slug: str) -> HttpResponse:
    """Where memories go that name no bank."""
    return _changed(request, slug, {"is_default": True}, "“{}” is the default bank now.", "")
