"""The review queue: drafts, duplicates and contradictions that wait for a person, and what can be decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from banks.services.banks import list_banks
from memories.rules.drafts import Resolution
from memories.rules.vocabulary import PairDecision
from memories.services.duplicates import reopen_pair, resolve_pair
from memories.services.reviewing import (
    approve_draft,
    count_waiting,
    reject_draft,
    reject_drafts,
    undo_rejection,
)
from memories.web.addresses import address_of
from memories.web.asking import NAMES, asked_by
from memories.web.choices import Choice
from memories.web.reviewpages import TABS, Tab, draft_page, pair_page
from memoryhub.lib.errors import Invalid
from memoryhub.lib.pages import SeeOther, answer_page, safe_next, say

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.web.requests import HubRequest

_DONE = "reviewed_here"
_COUNT_DIGITS = 9

DECISIONS = {
    PairDecision.KEEP_BOTH: "Both are kept.",
    PairDecision.MERGE: "Merged: one memory now says it all.",
    PairDecision.SUPERSEDE: "Replaced: agents recall the one that stays.",
    PairDecision.NOT_DUPLICATE: "Noted: these two are different things and will not be shown again.",
}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far somebody has come since they signed in."""

    done: int
    waiting: int

    @property
    def total(self) -> int:
        """What was there and what is left."""
        return self.done + self.waiting


def review(request: HubRequest, tab: str = Tab.DRAFTS) -> HttpResponse:
    """One of the three queues."""
    shown, access = Tab(tab), request.access
    waiting = count_waiting(access)
    counts = {
        Tab.DRAFTS: waiting.drafts,
        Tab.DUPLICATES: waiting.duplicates,
        Tab.CONTRADICTIONS: waiting.contradictions,
    }
    asked = asked_by(address_of(request.path, request.GET, NAMES), list_banks(access, include_hidden=True))
    page = draft_page(access, asked) if shown == Tab.DRAFTS else pair_page(access, asked, shown)
    context = {
        "tab": shown,
        "tabs": [Choice(title, reverse(name), counts[one], one == shown) for one, (name, title) in TABS.items()],
        "page": page,
        "progress": Progress(_done(request), waiting.total),
        "here": str(asked.address),
        "may_decide": access.has(KeyScope.MEMORIES_APPROVE if shown == Tab.DRAFTS else KeyScope.MEMORIES_WRITE),
    }
    return answer_page(request, "memories/review.html", context, part="review")


@require_POST
def approve(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Let agents recall a draft, as it is or with the text that was sent."""
    approve_draft(request.access, memory_id, request.POST.get("content"), _number(request, "version"))
    return _decided(request, "Approved: agents recall it from now on. To take it back, archive it on its page.")


@require_POST
def reject(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Discard a draft."""
    changeset = reject_draft(request.access, memory_id)
    return _decided(request, "Rejected.", undo=reverse("undo_rejection", args=[changeset.pk]))


@require_POST
def reject_all(request: HubRequest) -> HttpResponse:
    """Discard every draft the filters in the address let through."""
    access = request.access
    asked = asked_by(address_of(reverse("review"), request.GET, NAMES), list_banks(access, include_hidden=True))
    if asked.left_out:
        raise Invalid(f"Not understood: {', '.join(asked.left_out)}. Open the queue again; nothing was rejected.")
    count = _number(request, "count") or 0
    changeset = reject_drafts(access, asked.wanted, count, request.POST.get("reason", ""))
    text = f"{count:,} {'draft' if count == 1 else 'drafts'} rejected."
    return _decided(request, text, count, undo=reverse("undo_rejection", args=[changeset.pk]))


@require_POST
def undo(request: HubRequest, changeset_id: UUID) -> HttpResponse:
    """Bring back what was rejected together."""
    count = undo_rejection(request.access, changeset_id)
    return _decided(request, "Back in the queue.", -count)


@require_POST
def decide(request: HubRequest, pair_id: UUID) -> HttpResponse:
    """Decide about a pair."""
    said = request.POST
    keep = {"supersede_older": "older", "supersede": "newer"}.get(said.get("decision", ""))
    decision = str(said.get("decision", "")).removesuffix("_older")
    values = {"decision": decision, "keep": keep, "content": said.get("content") if decision == "merge" else None}
    pair = resolve_pair(request.access, pair_id, Resolution.parse({k: v for k, v in values.items() if v is not None}))
    return _decided(request, DECISIONS[PairDecision(decision)], undo=reverse("reopen_pair", args=[pair.pk]))


@require_POST
def reopen(request: HubRequest, pair_id: UUID) -> HttpResponse:
    """Take a decision about a pair back."""
    reopen_pair(request.access, pair_id)
    return _decided(request, "Back in the queue.", -1)


def _decided(request: HubRequest, text: str, count: int = 1, undo: str = "") -> HttpResponse:
    request.session[_DONE] = max(0, _done(request) + count)
    after = safe_next(request, reverse("review"))
    say(request, text, undo=f"{undo}?{urlencode({'next': after})}" if undo else "")
    return SeeOther(after)


def _done(request: HubRequest) -> int:
    return int(request.session.get(_DONE, 0))


def _number(request: HubRequest, name: str) -> int | None:
    """A number of the form, if it names one. Raises Invalid: nonsense must not pass as "any"."""
    text = request.POST.get(name, "")
    if text and not (text.isdecimal() and len(text) <= _COUNT_DIGITS):
        raise Invalid("That form is out of date; open the page again.")
    return int(text) if text else None
