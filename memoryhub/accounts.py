"""How accounts come about: an operator makes them, nobody signs up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.account.adapter import DefaultAccountAdapter

if TYPE_CHECKING:
    from django.http import HttpRequest


class ClosedAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth is untyped here
    """Allauth without registration."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Always no."""
        return False
