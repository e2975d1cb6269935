"""The list of memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memories.web.browsing import list_page
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from memories.web.requests import HubRequest


def memories(request: HubRequest) -> HttpResponse:
    """Filtered, sorted, searched and paged; the address holds all of it."""
    return answer_page(request, "memories/list.html", {"page": list_page(request)}, part="browse")
