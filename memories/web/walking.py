"""From one memory to the next in the list somebody came from: the list's address travels along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from django.http import QueryDict
from django.urls import reverse

from banks.services.banks import list_banks
from memories.search.besides import find_besides
from memories.web.addresses import address_of
from memories.web.asking import NAMES, asked_by
from memories.web.rows import LIST
from memoryhub.lib.errors import Invalid

if TYPE_CHECKING:
    from uuid import UUID

    from banks.access import Access
    from memories.models import Memory
    from memories.web.requests import HubRequest

_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class Walk:
    """Where the list is, and the pages before and after; empty at its ends and for whoever came from elsewhere."""

    list_url: str
    before_url: str = ""
    after_url: str = ""
    #: Whether there is a list to walk through.
    is_open: bool = False


def asked_of(request: HubRequest) -> QueryDict:
    """The address' own words, and the list somebody comes from where the browser tells it."""
    if LIST in request.GET or request.htmx:
        return request.GET
    came = urlsplit(request.headers.get("Referer", ""))
    if (
        came.path != reverse("memories")
        or f"{came.scheme}://{came.netloc}" != f"{request.scheme}://{request.get_host()}"
    ):
        return request.GET
    asked = request.GET.copy()
    asked[LIST] = came.query
    return asked


def walk_of(access: Access, memory: Memory, query: QueryDict) -> Walk:
    """The neighbours in that list; a list that cannot be meant any more is just the list."""
    everything = reverse("memories")
    if LIST not in query or len(query[LIST]) > _LONGEST:
        return Walk(everything)
    address = address_of(everything, QueryDict(str(query[LIST])), NAMES)
    asked = asked_by(address, list_banks(access, include_hidden=True))
    here = asked.address.without("cursor")
    try:
        found = find_besides(access, memory, asked.wanted, asked.sort)
    except Invalid:
        return Walk(str(here))
    told = urlencode({LIST: urlencode(here.values)})

    def url(memory_id: UUID | None) -> str:
        return f"{reverse('memory', args=[memory_id])}?{told}" if memory_id else ""

    return Walk(str(here), url(found.before), url(found.after), is_open=True)
