"""API keys. A secret is in one answer and nowhere else: not in the session, not in a message, not in a redirect."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from banks.services.agents import list_agents
from banks.services.banks import list_banks
from banks.services.drafts import KeyDraft
from banks.services.keys import OVERLAP, create_key, get_key, list_keys, revoke_key, rotate_key
from banks.web.forms import KeyForm
from banks.web.keystates import state_of
from memoryhub.lib.clock import now
from memoryhub.lib.pages import SeeOther, answer_page, say, submitted

if TYPE_CHECKING:
    from django.http import HttpResponse, QueryDict

    from banks.web.requests import HubRequest


#: How long both secrets work, in hours.
OVERLAPS = (("0", "Not at all"), ("1", "An hour"), ("24", "A day"), ("168", "A week"))


def _form(request: HubRequest, data: QueryDict | None = None) -> KeyForm:
    return KeyForm(data, banks=list_banks(request.access), agents=list_agents(request.access))


def _page(request: HubRequest, form: KeyForm, fresh: dict[str, Any] | None = None) -> HttpResponse:
    listed = [(key, state_of(key)) for key in list_keys(request.access)]
    context = {
        "keys": [{"key": key, "state": state} for key, state in listed if state.live],
        "ended": [{"key": key, "state": state} for key, state in listed if not state.live],
        "form": form,
        "fresh": fresh,
        "all_scopes": [scope for scope in KeyScope if request.access.has(scope)],
        "hub_url": request.build_absolute_uri("/").rstrip("/"),
    }
    return answer_page(request, "banks/keys.html", context, status=422 if form.errors else 200)


@sensitive_variables("made", "secret")
def keys(request: HubRequest) -> HttpResponse:
    """The vault's keys, the form for one more, and its secret right after it was made."""
    form = _form(request, request.POST or None)
    made = submitted(form, lambda: create_key(request.access, KeyDraft.parse(form.draft(request.access.scopes))))
    if made is None:
        return _page(request, form)
    key, secret = made
    return _page(request, _form(request), {"key": key, "secret": secret})


def key(request: HubRequest, key_id: str) -> HttpResponse:
    """One key: what it may do and did, and the two ways to end it, with what they break."""
    found = get_key(request.access, key_id)
    context = {"key": found, "state": state_of(found), "banks": list(found.banks.all()), "overlaps": OVERLAPS}
    return answer_page(request, "banks/key.html", context)


@require_POST
@sensitive_variables("made", "secret")
def rotate(request: HubRequest, key_id: str) -> HttpResponse:
    """A successor; the old secret works on for as long as was chosen, a day unless said otherwise."""
    hours = request.POST.get("overlap", "")
    overlap = dt.timedelta(hours=int(hours)) if hours in dict(OVERLAPS) else OVERLAP
    key, secret = rotate_key(request.access, key_id, overlap)
    return _page(request, _form(request), {"key": key, "secret": secret, "rotated": True, "ends_at": now() + overlap})


@require_POST
def revoke(request: HubRequest, key_id: str) -> HttpResponse:
    """End a key at once."""
    key = revoke_key(request.access, key_id)
    say(request, f"Key “{key.name}” no longer works.")
    return SeeOther(reverse("keys"))
