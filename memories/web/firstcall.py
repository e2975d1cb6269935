"""The light of the page Connect: it waits, and turns green with the first call; a page of its own without scripts."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from uuid import UUID

from memories.rules.vocabulary import AccessPurpose
from memories.search.firstcall import find_call
from memories.web.activity import SAID
from memories.web.forms import spoken
from memoryhub.lib.clock import now
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from memories.web.requests import HubRequest

DONE = {
    AccessPurpose.SEARCH.value: "searched",
    AccessPurpose.CONTEXT.value: "asked for context",
    AccessPurpose.READ.value: "read a memory by its id",
    "": "called",
}
_LONGEST = dt.timedelta(days=1)


def first_call(request: HubRequest) -> HttpResponse:
    """Whether a key, or the one that is waited for, was used since the page was opened."""
    asked = request.GET
    since, key = _moment(asked.get("since", "")), _uuid(asked.get("key", ""))
    seen = find_call(request.access, since, key)
    context = {
        "seen": seen,
        "did": DONE.get(seen.what) or _said(seen.what) if seen else "",
        "here": request.get_full_path(),
        "since": since,
    }
    return answer_page(request, "memories/first_call.html", context, part="first-call")


def _said(action: str) -> str:
    verb = SAID.get(action, ("", ""))[0]
    return f"{verb} something" if verb else spoken(action).lower()


def _moment(text: str) -> dt.datetime:
    """When the page was opened, at the earliest a day ago; now where the address does not say."""
    at = now()
    try:
        opened = dt.datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        return at
    if opened.tzinfo is None:
        return at
    return max(min(opened, at), at - _LONGEST)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
