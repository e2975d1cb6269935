"""The password once more, before what a borrowed browser must not be able to do (ASVS 7.5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.core import ratelimit
from django import forms

if TYPE_CHECKING:
    from memories.web.requests import HubRequest


def password_field(why: str) -> forms.CharField:
    """The field to type it in; call it ``password``."""
    return forms.CharField(
        label="Your password",
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        strip=False,
        max_length=1_000,
        help_text=why,
    )


def confirmed_by_password(request: HubRequest, form: forms.Form) -> bool:
    """Whether the form is in order and its password is right; otherwise the form says what is wrong."""
    if form.is_valid() and not _is_the_password(request, form.cleaned_data["password"]):
        form.add_error("password", "That is not your password, or it was tried too often; try again in a minute.")
    return form.is_valid()


def _is_the_password(request: HubRequest, password: str) -> bool:
    assert request.user.is_authenticated
    tries_left = ratelimit.consume(request, action="reauthenticate", user=request.user)
    return bool(tries_left) and request.user.check_password(password)
