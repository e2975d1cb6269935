"""Addresses of this room."""

from __future__ import annotations

from django.conf import settings
from django.urls import path
from django.views.decorators.http import require_POST
from django.views.generic import RedirectView

from banks.web import agents, banks, connect, keys, palette, preferences

urlpatterns = [
    path("favicon.ico", RedirectView.as_view(url=f"{settings.STATIC_URL}favicon.svg")),
    path("palette/", palette.palette, name="palette"),
    path("preferences/vault/", preferences.choose_vault, name="choose_vault"),
    path("preferences/theme/", preferences.choose_theme, name="choose_theme"),
    path("preferences/density/", preferences.choose_density, name="choose_density"),
    path("preferences/shortcuts/", preferences.choose_shortcuts, name="choose_shortcuts"),
    path("banks/", banks.banks, name="banks"),
    path("banks/<slug:slug>/", banks.bank, name="bank"),
    path("banks/<slug:slug>/hide/", require_POST(banks.hide_bank), name="hide_bank"),
    path("banks/<slug:slug>/show/", require_POST(banks.show_bank), name="show_bank"),
    path("banks/<slug:slug>/default/", require_POST(banks.make_default_bank), name="make_default_bank"),
    path("agents/", agents.agents, name="agents"),
    path("agents/<uuid:agent_id>/", agents.agent, name="agent"),
    path("keys/", keys.keys, name="keys"),
    path("keys/<uuid:key_id>/", keys.key, name="key"),
    path("keys/<uuid:key_id>/rotate/", keys.rotate, name="rotate_key"),
    path("keys/<uuid:key_id>/revoke/", keys.revoke, name="revoke_key"),
    path("connect/", connect.connect, name="connect"),
]
