"""How accounts come about: an operator makes them, nobody signs up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.account.adapter import DefaultAccountAdapter
from django.shortcuts import render

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse


class ClosedAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth is untyped here
    """Allauth without registration."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Always no."""
        return False

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Said here; allauth's own page for it is not routed."""
        return render(request, "403.html", {"problem": "This account is switched off."}, status=403)
