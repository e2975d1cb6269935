"""Every address of the hub."""

from __future__ import annotations

from typing import Any

from allauth.account.urls import urlpatterns as of_allauth
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, include, path, re_path

from memoryhub.api import api, docs, facts, mem0
from memoryhub.mcp import mcp

# The hub sends no mail and nobody signs up, so all that begins with either is not there.
OFFERED = {"account_login", "account_logout", "account_change_password"}


def not_offered(request: HttpRequest, **_: Any) -> HttpResponse:
    """404. The names stay, because the views of allauth build addresses from them."""
    raise Http404


accounts = [one if one.name in OFFERED else URLPattern(one.pattern, not_offered, name=one.name) for one in of_allauth]

urlpatterns = [
    path("api/v1/", api.urls),
    path("api/docs", docs),
    path("api/", facts.urls),
    path("compat/mem0/", mem0.urls),
    re_path("^mcp/?$", mcp, name="mcp"),  # people paste it with a slash, and most clients follow no redirect
    path("mcp/banks/<slug:bank>", mcp, name="mcp_bank"),
    path("accounts/", include(accounts)),
    path("admin/", admin.site.urls),
    path("", include("memoryhub.health")),
    path("", include("banks.web.urls")),
    path("", include("memories.web.urls")),
]

handler500 = "memoryhub.middleware.faults.server_error"
