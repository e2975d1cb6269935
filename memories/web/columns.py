"""Which columns the list shows: each person chooses, a cookie keeps it; an address may say it, as a view does."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import QueryDict
from django.urls import reverse
from django.views.decorators.http import require_POST

from memories.rules.filters import Sort
from memories.web.addresses import address_of
from memories.web.asking import NAMES, asked_sort
from memoryhub.lib.pages import SeeOther, safe_next

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import HttpRequest, HttpResponse

    from memories.web.addresses import Address
    from memories.web.requests import HubRequest

COOKIE = "list_columns"
KEPT = dt.timedelta(days=365)
LABELS = {
    "bank": "Bank",
    "type": "Type",
    "category": "Category",
    "agent": "Agent",
    "source": "Source",
    "trust": "Trust",
    "importance": "Importance",
    "confidence": "Confidence",
    "recalls": "Recalled",
    "event": "Happened",
    "created": "Created",
    "updated": "Changed",
    "expires": "Expires",
    "state": "State",
}
USUAL = ("importance", "created", "state")
NONE = "none"
#: Column → its descending and its ascending order.
_ORDERS = {
    "importance": (Sort.MOST_IMPORTANT, Sort.LEAST_IMPORTANT),
    "created": (Sort.NEWEST, Sort.OLDEST),
    "updated": (Sort.CHANGED, Sort.UNCHANGED),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column; with an order it can be sorted by, and ``sorted`` says how it is now."""

    name: str
    label: str
    url: str = ""
    sorted: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A column that may be chosen."""

    name: str
    label: str
    shown: bool


def columns_of(request: HttpRequest, address: Address) -> tuple[str, ...]:
    """The names of the columns to show, in their fixed order."""
    said = address.first("columns") or request.COOKIES.get(COOKIE, "")
    if not said:
        return USUAL
    return tuple(name for name in LABELS if name in said.split(","))


def heads_of(names: Iterable[str], address: Address) -> list[Column]:
    """The columns with the links that sort by them."""
    return [_head(name, address) for name in names]


def _head(name: str, address: Address) -> Column:
    if name not in _ORDERS:
        return Column(name, LABELS[name])
    down, up = _ORDERS[name]
    now = asked_sort(address)
    following = up if now == down else down
    url = str(address.without("cursor").having(sort="" if following == Sort.NEWEST else following.value))
    return Column(name, LABELS[name], url, {down: "descending", up: "ascending"}.get(now, ""))


def offers_of(names: Iterable[str]) -> list[Offer]:
    """Every column there is."""
    shown = set(names)
    return [Offer(name, label, name in shown) for name, label in LABELS.items()]


@require_POST
def choose_columns(request: HubRequest) -> HttpResponse:
    """Remember the columns that were ticked; in a list that says its columns, say them there."""
    back = safe_next(request, reverse("memories"))
    path, _, query = back.partition("?")
    here = address_of(path, QueryDict(query), NAMES)
    ticked = [name for name in LABELS if name in request.POST.getlist("column")]
    said = "" if "usual" in request.POST else ",".join(ticked) or NONE
    if here.first("view"):
        return SeeOther(str(here.having(columns=said)))
    response = SeeOther(str(here.without("columns")))
    response.set_cookie(COOKIE, said, max_age=KEPT, samesite="Lax", secure=request.is_secure(), httponly=True)
    return response
