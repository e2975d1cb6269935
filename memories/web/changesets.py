"""Everything that was changed as one: a list, a page for each, and taking it back whole or in part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from banks.services.banks import list_banks
from memories.rules.bulk import REVIEWS
from memories.rules.undoing import Refusal
from memories.rules.vocabulary import ChangesetState
from memories.search.reading import versions_around
from memories.services.changesets import count_items, get_changeset, list_changesets, list_items, undoable_until
from memories.services.imports import count_staying
from memories.services.undoing import undo_changeset
from memories.web.activity import activity_tabs
from memories.web.actors import agent_names, names_of
from memories.web.addresses import Address
from memories.web.changewords import (
    STATES,
    Turn,
    icon_of,
    spoken_reason,
    state_of_item,
    staying_words,
    title_of,
    turn_of,
)
from memories.web.choices import Choice
from memories.web.rows import row_of
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import CryptoError
from memoryhub.lib.errors import Invalid
from memoryhub.lib.ids import parse_id
from memoryhub.lib.pages import SeeOther, answer_page, safe_next, say
from memoryhub.lib.pagination import CursorInvalid, CursorMismatch

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence
    from uuid import UUID

    from django.http import HttpResponse

    from banks.access import Access
    from memories.models import Changeset, ChangesetItem
    from memories.services.undoing import UndoReport
    from memories.web.requests import HubRequest
    from memories.web.rows import MemoryRow, State

PAGE = 50


@dataclass(frozen=True, slots=True)
class ChangesetLine:
    """One changeset of the list."""

    changeset: Changeset
    title: str
    icon: str
    who: str
    reason: str
    state: State
    until: dt.datetime
    url: str
    undo_url: str


@dataclass(frozen=True, slots=True)
class ItemLine:
    """One memory of a changeset: how it reads now, what was changed, how that stands."""

    row: MemoryRow
    turn: Turn
    state: State
    is_open: bool


def changesets(request: HubRequest) -> HttpResponse:
    """The newest changesets, in pages."""
    cursor = request.GET.get("cursor") or None
    try:
        page = list_changesets(request.access, PAGE, cursor)
    except (CursorInvalid, CursorMismatch):
        page, cursor = list_changesets(request.access, PAGE), None
    context = {
        "lines": changeset_lines(request.access, page.items),
        "tabs": activity_tabs("changesets"),
        "older_url": str(Address(request.path).having(cursor=page.next_cursor)) if page.next_cursor else "",
        "is_first": cursor is None,
    }
    return answer_page(request, "memories/changesets.html", context)


def changeset_lines(access: Access, found: Sequence[Changeset]) -> list[ChangesetLine]:
    """Several changesets in words."""
    who = names_of(access, {(one.actor_kind, one.actor_id) for one in found})
    until = undoable_until(access, found)
    return [
        ChangesetLine(
            changeset=one,
            title=title_of(one),
            icon=icon_of(one),
            who=who((one.actor_kind, one.actor_id)),
            reason=_reason(one),
            state=STATES[ChangesetState(one.state)],
            until=until[one.pk],
            url=reverse("changeset", args=[one.pk]),
            undo_url=reverse("undo_changeset", args=[one.pk]) if _may_undo(access, one, until[one.pk]) else "",
        )
        for one in found
    ]


def _may_undo(access: Access, changeset: Changeset, until: dt.datetime) -> bool:
    """Whether this person may, and there is something left in time."""
    wanted = KeyScope.MEMORIES_APPROVE if changeset.action in {"reject_drafts", *REVIEWS} else KeyScope.MEMORIES_WRITE
    return changeset.state != ChangesetState.UNDONE and until > now() and access.has(wanted)


def _reason(changeset: Changeset) -> str:
    try:
        return spoken_reason(changeset.reason or "")
    except CryptoError:
        return ""


def changeset(request: HubRequest, changeset_id: UUID) -> HttpResponse:
    """One changeset: its memories with what was changed, and what an undo left as it is."""
    found = get_changeset(request.access, changeset_id)
    here = Address(request.path)
    counts = count_items(request.access, found)
    only = request.GET.get("refused", "")
    only = only if only in set(Refusal) else ""
    cursor = request.GET.get("cursor") or None
    try:
        page = list_items(request.access, found, only or None, PAGE, cursor)
    except (CursorInvalid, CursorMismatch):
        page = list_items(request.access, found, only or None, PAGE)
    following = here.having(refused=only, cursor=page.next_cursor) if page.next_cursor else ""
    left = [(code, count) for code, count in counts.items() if code in set(Refusal)]
    context = {
        "line": changeset_lines(request.access, [found])[0],
        "items": _item_lines(request.access, page.items),
        "counts": counts,
        "staying": staying_words(count_staying(request.access, found)),
        "left": [Choice(code.replace("_", " "), str(here.having(refused=code)), n, code == only) for code, n in left],
        "every_url": str(here) if only else "",
        "next_url": str(following),
        "here": str(here.having(refused=only, cursor=cursor or "")),
    }
    return answer_page(request, "memories/changeset.html", context)


def _item_lines(access: Access, items: Sequence[ChangesetItem]) -> list[ItemLine]:
    kept = versions_around(access, items)
    banks = {str(bank.pk): bank.name for bank in list_banks(access, include_hidden=True)}
    agents = agent_names(access)
    return [
        ItemLine(row_of(item.memory, agents), turn_of(item, kept, banks), state_of_item(item), item.undone_at is None)
        for item in items
    ]


@require_POST
def undo(request: HubRequest, changeset_id: UUID) -> HttpResponse:
    """Take it back: all of it, or the memories that were ticked."""
    page = reverse("changeset", args=[changeset_id])
    ticked = None
    if request.POST.get("only") == "ticked":
        ticked = [parse_id(one) for one in request.POST.getlist("id")]
        if not ticked:
            raise Invalid("Tick at least one memory to take back, or undo all.")
    report = undo_changeset(request.access, changeset_id, ticked)
    if report.job:
        say(request, "It is being taken back in the background.")
        return SeeOther(reverse("job", args=[report.job.pk]))
    say(request, _told(report))
    return SeeOther(safe_next(request, page) if report.is_clean else page)


def _told(report: UndoReport) -> str:
    said = [f"Taken back: {report.undone:,} {'memory' if report.undone == 1 else 'memories'}."]
    if report.changed_since:
        said.append(f"{len(report.changed_since):,} edited since and left as they are.")
    if report.blocked:
        said.append(f"{len(report.blocked):,} could not go back; the reason stands beside each.")
    return " ".join(said)
