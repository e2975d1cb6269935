"""How an agent connects: the lines to copy, with this hub's own address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from banks.access import KeyScope
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from banks.web.requests import HubRequest


def connect(request: HubRequest) -> HttpResponse:
    """Three curl lines: who am I, remember, find."""
    context = {
        "hub_url": request.build_absolute_uri("/").rstrip("/"),
        "may_issue": request.access.has(KeyScope.KEYS_ADMIN),
    }
    return answer_page(request, "banks/connect.html", context)
