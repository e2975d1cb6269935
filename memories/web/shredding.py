"""Shredding a vault in the browser: its name and the password, then a receipt that is there without the vault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters

from banks.access import ALL_SCOPES
from banks.services.shredding import OwnersOnly
from memories.services.shredding import find_shredding, holds_for_hub, shred_vault
from memories.web.reauthentication import confirmed_by_password, password_field
from memoryhub.lib.pages import SeeOther, answer_page, submitted

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.web.requests import HubRequest


class ShredForm(forms.Form):
    """The vault's name, typed, and the password once more."""

    name = forms.CharField(
        label="Name of the vault",
        max_length=100,
        strip=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Exactly as it is written above.",
    )
    password = password_field("Asked again, because nobody can take this back.")


@sensitive_post_parameters("password")
def shred(request: HubRequest) -> HttpResponse:
    """What goes and what stays; with name and password it is done. For owners."""
    if not request.access.scopes >= ALL_SCOPES:
        raise OwnersOnly
    form = ShredForm(request.POST or None)
    if form.is_bound and confirmed_by_password(request, form):
        receipt = submitted(form, lambda: shred_vault(request.access, form.cleaned_data["name"]))
        if receipt is not None:
            return SeeOther(reverse("shredded_vault", args=[receipt.pk]))
    context = {"form": form, "vault": request.access.vault}
    return answer_page(request, "memories/shred.html", context, status=422 if form.errors else 200)


@login_not_required  # asked for inside: whoever owned only this vault is in none any more
def shredded(request: HubRequest, receipt_id: UUID) -> HttpResponse:
    """The receipt, for those who owned the vault."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    receipt = find_shredding(request.user.pk, receipt_id)
    removed = sorted((thing.replace("_", " "), count) for thing, count in receipt.removed.items())
    context = {
        "receipt": receipt,
        "removed": removed,
        "signature": bytes(receipt.signature or b"").hex(),
        "is_genuine": holds_for_hub(receipt),
    }
    return answer_page(request, "memories/shredded.html", context)
