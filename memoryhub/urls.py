"""Every address of the hub."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from memoryhub.api import api, docs

urlpatterns = [
    path("api/v1/", api.urls),
    path("api/docs", docs),
    path("accounts/", include("allauth.account.urls")),
    path("admin/", admin.site.urls),
    path("", include("memoryhub.health")),
    path("", include("banks.web.urls")),
    path("", include("memories.web.urls")),
]

handler500 = "memoryhub.middleware.faults.server_error"
