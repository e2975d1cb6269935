"""What a person chooses for this browser: vault, theme, density, single-key shortcuts."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.views.decorators.http import require_POST

from banks.access import access_from_user
from banks.web.middleware import VAULT_IN_SESSION
from banks.web.shell import DENSITIES, DENSITY_COOKIE, SHORTCUTS_COOKIE, THEME_COOKIE, THEMES
from memoryhub.lib.ids import parse_id
from memoryhub.lib.pages import SeeOther, safe_next

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from banks.web.requests import HubRequest

A_YEAR = dt.timedelta(days=365)


@require_POST
def choose_vault(request: HubRequest) -> HttpResponse:
    """Look at another of one's vaults; a foreign one answers like an unknown one."""
    assert request.user.is_authenticated
    wanted: UUID = parse_id(request.POST.get("vault", ""))
    access_from_user(request.user, wanted, request.access.request_id)
    request.session[VAULT_IN_SESSION] = str(wanted)
    return SeeOther("/")


@login_not_required
@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Light, dark, or what the system says."""
    theme = request.POST.get("theme", "")
    return _remembered(request, THEME_COOKIE, theme if theme in {value for value, _, _ in THEMES} else "system")


@login_not_required
@require_POST
def choose_density(request: HttpRequest) -> HttpResponse:
    """How much fits on a screen: comfortable or compact."""
    density = request.POST.get("density", "")
    known = {value for value, _, _ in DENSITIES}
    return _remembered(request, DENSITY_COOKIE, density if density in known else "comfortable")


@login_not_required
@require_POST
def choose_shortcuts(request: HttpRequest) -> HttpResponse:
    """Single-key shortcuts on or off (WCAG 2.1.4)."""
    return _remembered(request, SHORTCUTS_COOKIE, "off" if request.POST.get("shortcuts") == "off" else "on")


def _remembered(request: HttpRequest, cookie: str, value: str) -> HttpResponse:
    response = SeeOther(safe_next(request, "/"))
    response.set_cookie(cookie, value, max_age=A_YEAR, samesite="Lax", secure=request.is_secure(), httponly=True)
    return response
