"""The views of the list: which there are, which stands open, whether it was changed, and the forms that keep them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.views.decorators.http import require_POST

from memories.rules.savedviews import ViewDraft
from memories.services.savedviews import delete_view, list_views, owner_of, save_view
from memories.web.addresses import Address, address_of
from memories.web.asking import NAMES
from memories.web.columns import columns_of
from memoryhub.lib.crypto import CryptoError
from memoryhub.lib.pages import SeeOther, safe_next, say

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from banks.access import Access
    from memories.models import SavedView
    from memories.web.requests import HubRequest

#: What is not part of a view.
_PASSING = ("view", "cursor", "limit", "more")


@dataclass(frozen=True, slots=True)
class ViewLine:
    """A view, and where its list is."""

    id: UUID
    name: str
    url: str
    is_own: bool
    is_shared: bool
    is_pinned: bool
    is_open: bool
    #: It stands open, and the list is not any more as it was saved.
    is_changed: bool


def views_of(access: Access, here: Address) -> list[ViewLine]:
    """The pinned first. What does not open is left out."""
    lines = [line for view in list_views(access) if (line := _line(access, view, here))]
    return sorted(lines, key=lambda line: (not line.is_pinned, line.name.casefold()))


def _line(access: Access, view: SavedView, here: Address) -> ViewLine | None:
    try:
        name, saved = view.name, address_of(here.path, QueryDict(view.address), NAMES)
    except CryptoError:
        return None
    is_open = here.first("view") == str(view.pk)
    return ViewLine(
        id=view.pk,
        name=name,
        url=str(saved.having(view=str(view.pk))),
        is_own=view.owner == owner_of(access),
        is_shared=view.is_shared,
        is_pinned=view.is_pinned,
        is_open=is_open,
        is_changed=is_open and set(saved.values) != set(here.without(*_PASSING).values),
    )


@require_POST
def keep_view(request: HubRequest) -> HttpResponse:
    """Save the list the form stands on, with the columns it shows, under a name."""
    path, _, query = safe_next(request, reverse("memories")).partition("?")
    here = address_of(path, QueryDict(query), NAMES).without(*_PASSING)
    here = here.having(columns=",".join(columns_of(request, here)) or "none")
    draft = ViewDraft.parse(
        {
            "name": request.POST.get("name", ""),
            "address": urlencode(here.values),
            "is_shared": "shared" in request.POST,
            "is_pinned": "pinned" in request.POST,
        }
    )
    view = save_view(request.access, draft)
    say(request, f"Saved as “{draft.name}”.")
    return SeeOther(str(Address(reverse("memories"), here.values).having(view=str(view.pk))))


@require_POST
def forget_view(request: HubRequest, view_id: UUID) -> HttpResponse:
    """Delete a view; the list it showed stays open."""
    delete_view(request.access, view_id)
    say(request, "The view is deleted; its memories are as they were.")
    path, _, query = safe_next(request, reverse("memories")).partition("?")
    return SeeOther(str(address_of(path, QueryDict(query), NAMES).without("view")))
