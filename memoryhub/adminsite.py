"""The admin, for superusers who came in through the hub's own login: one door, and so one limit on guessing."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from memoryhub.lib.pages import local_address


class HubAdminSite(AdminSite):
    """Without a password form of its own."""

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether this is a superuser. Raises PermissionDenied for anybody else signed in: a login would not help."""
        if request.user.is_active and not request.user.is_superuser:
            raise PermissionDenied("The admin is for superusers, and this account is not one.")
        return request.user.is_active

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Visitors to the hub's login page and back; superusers to where they wanted."""
        after = local_address(request, request.GET.get("next", ""), reverse("admin:index"))
        return redirect(after) if self.has_permission(request) else redirect_to_login(after)

    def password_change(  # type: ignore[override]  # Django's stub promises its own page
        self, request: HttpRequest, extra_context: Any = None
    ) -> HttpResponse:
        """Where everybody changes theirs."""
        return redirect("account_change_password")
