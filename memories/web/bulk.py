"""What the list of memories can do to many at once: tick some, or take all that match; say what; take it back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from banks.services.banks import list_banks
from memories.rules.bulk import AT_ONCE, NEEDED, BulkAction, BulkChange, Skip
from memories.rules.vocabulary import MemoryCategory
from memories.search.listing import list_memories
from memories.services.bulk import SelectionChanged, bulk_change, count_chosen
from memories.web.actors import agent_names
from memories.web.addresses import address_of
from memories.web.asking import NAMES, asked_by
from memories.web.forms import parted, spoken
from memories.web.rows import row_of
from memoryhub.lib.errors import Invalid
from memoryhub.lib.pages import SeeOther, answer_page, safe_next, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.http import HttpResponse, QueryDict

    from banks.access import Access
    from banks.models import Bank
    from memories.services.bulk import BulkReport
    from memories.web.addresses import Address
    from memories.web.requests import HubRequest

ACTIONS: Mapping[BulkAction, tuple[str, KeyScope]] = {
    BulkAction.ARCHIVE: ("Archive", KeyScope.MEMORIES_DELETE),
    BulkAction.RESTORE: ("Restore", KeyScope.MEMORIES_WRITE),
    BulkAction.MOVE_BANK: ("Move to a bank", KeyScope.MEMORIES_WRITE),
    BulkAction.ADD_TAGS: ("Add tags", KeyScope.MEMORIES_WRITE),
    BulkAction.REMOVE_TAGS: ("Remove tags", KeyScope.MEMORIES_WRITE),
    BulkAction.SET_IMPORTANCE: ("Set importance", KeyScope.MEMORIES_WRITE),
    BulkAction.SET_CATEGORY: ("Set category", KeyScope.MEMORIES_WRITE),
    BulkAction.PROTECT: ("Protect", KeyScope.MEMORIES_WRITE),
    BulkAction.UNPROTECT: ("Unprotect", KeyScope.MEMORIES_WRITE),
    BulkAction.ACCEPT: ("Approve", KeyScope.MEMORIES_APPROVE),
    BulkAction.DISCARD: ("Discard", KeyScope.MEMORIES_APPROVE),
}
DONE: Mapping[BulkAction, str] = {
    BulkAction.ARCHIVE: "Archived",
    BulkAction.RESTORE: "Restored",
    BulkAction.MOVE_BANK: "Moved",
    BulkAction.ADD_TAGS: "Tagged",
    BulkAction.REMOVE_TAGS: "Untagged",
    BulkAction.SET_IMPORTANCE: "Set the importance of",
    BulkAction.SET_CATEGORY: "Set the category of",
    BulkAction.PROTECT: "Protected",
    BulkAction.UNPROTECT: "Unprotected",
    BulkAction.ACCEPT: "Approved",
    BulkAction.DISCARD: "Discarded",
}
LEFT: Mapping[Skip, str] = {
    Skip.PROTECTED: "protected",
    Skip.SUPERSEDED: "replaced by a newer one",
    Skip.STATUS_MOVE: "already decided",
    Skip.REPLACES_ANOTHER: "a replacement, to be approved by itself",
    Skip.TOO_MANY_TAGS: "full of tags",
    Skip.DUPLICATE_CONTENT: "said by another memory already",
}
NO_CATEGORY = "none"
CATEGORIES = [(NO_CATEGORY, "No category"), *((one.value, spoken(one.value)) for one in MemoryCategory)]
DIGITS = 10
#: So many of all that match are shown beside the second question.
SHOWN = 5
_NOT_SENT_AGAIN = frozenset({"csrfmiddlewaretoken", "expected_count", "sure"})
NOT_FILTERS = frozenset({"sort", "limit", "cursor", "columns", "view", "more"})


@dataclass(frozen=True, slots=True)
class BulkForm:
    """What the form under the list offers: actions, banks, categories, and the list's own filters to send along."""

    actions: list[tuple[str, str]]
    banks: list[str]
    kept: tuple[tuple[str, str], ...]
    categories: list[tuple[str, str]]


def bulk_form(access: Access, here: Address, banks: Iterable[Bank]) -> BulkForm | None:
    """None for somebody who may change nothing."""
    actions = [(action.value, label) for action, (label, scope) in ACTIONS.items() if access.has(scope)]
    kept = here.without(*NOT_FILTERS).values
    names = [bank.name for bank in banks if not bank.is_hidden]
    return BulkForm(actions, names, kept, CATEGORIES) if actions else None


def may_change(access: Access) -> bool:
    """Whether this person may do anything to several memories."""
    return any(access.has(scope) for _, scope in ACTIONS.values())


@require_POST
def bulk(request: HubRequest) -> HttpResponse:
    """Do it, say what happened, and return to the list. All that match are asked about once more, with their number."""
    back = safe_next(request, reverse("memories"))
    wanted = _wanted(request.access, request.POST)
    if wanted.query is not None and "sure" not in request.POST:
        return _asked_again(request, wanted, back)
    try:
        report = bulk_change(request.access, wanted)
    except SelectionChanged:
        return _asked_again(request, wanted, back)
    if report.job:
        say(request, "The change is being made in the background; undo it from its changeset once it is done.")
        return SeeOther(reverse("job", args=[report.job.pk]))
    undo = ""
    if report.changeset:
        undo = f"{reverse('undo_changeset', args=[report.changeset.pk])}?{urlencode({'next': back})}"
    say(request, outcome(BulkAction(request.POST["action"]), report), undo=undo)
    return SeeOther(back)


def _asked_again(request: HubRequest, wanted: BulkChange, back: str) -> HttpResponse:
    """The second question: how many there are now, what would be done, and the first few of them."""
    assert wanted.query is not None
    page = list_memories(request.access, wanted.query, limit=SHOWN)
    left_out = set(wanted.exclude_ids)
    count = count_chosen(request.access, wanted)
    kept = [(name, value) for name, values in request.POST.lists() for value in values]
    agents = agent_names(request.access)
    context = {
        "does": ACTIONS[wanted.action][0].lower(),
        "with": _parameter_said(wanted),
        "count": count,
        "seen": wanted.expected_count,
        "drifted": count != wanted.expected_count,
        "left_out": len(left_out),
        "kept": [(name, value) for name, value in kept if name not in _NOT_SENT_AGAIN],
        "rows": [row_of(one, agents) for one in page.items if one.pk not in left_out],
        "is_job": count > AT_ONCE,
        "back": back,
    }
    status = 409 if "sure" in request.POST else 200
    return answer_page(request, "memories/bulk_confirm.html", context, status=status)


def _parameter_said(wanted: BulkChange) -> str:
    match wanted.action:
        case BulkAction.MOVE_BANK:
            return wanted.bank or ""
        case BulkAction.ADD_TAGS | BulkAction.REMOVE_TAGS:
            return ", ".join(wanted.tags or [])
        case BulkAction.SET_IMPORTANCE:
            return str(wanted.importance)
        case BulkAction.SET_CATEGORY:
            return spoken(wanted.category.value) if wanted.category else "none"
        case _:
            return ""


def outcome(action: BulkAction, report: BulkReport) -> str:
    """``Archived 12 memories. 3 left alone: 2 protected, 1 replaced by a newer one.``"""
    said = [f"{DONE[action]} {report.changed:,} {'memory' if report.changed == 1 else 'memories'}."]
    if report.unchanged:
        said.append(f"{report.unchanged:,} already {'was' if report.unchanged == 1 else 'were'} so.")
    if report.skipped:
        counted = Counter(report.skipped.values())
        why = ", ".join(f"{counted[code]:,} {text}" for code, text in LEFT.items() if counted[code])
        said.append(f"{len(report.skipped):,} left alone: {why}.")
    return " ".join(said)


def _wanted(access: Access, sent: QueryDict) -> BulkChange:
    """The form as a bulk change. Raises Invalid in words of the page."""
    action = sent.get("action", "")
    data: dict[str, Any] = {"action": action, "reason": sent.get("reason", "")}
    if sent.get("all"):
        here = address_of(reverse("memories"), sent, set(NAMES) - NOT_FILTERS)
        asked = asked_by(here, list_banks(access, include_hidden=True))
        if asked.left_out:
            raise Invalid(f"Not understood: {', '.join(asked.left_out)}. Nothing was changed; look at the list again.")
        excluded = sent.getlist("exclude_id")
        seen = _number(sent.get("expected_count", ""))
        data |= {"query": asked.wanted, "expected_count": seen, "exclude_ids": excluded}
    elif sent.getlist("id"):
        data["ids"] = sent.getlist("id")
    else:
        raise Invalid("Tick at least one memory, or take all that match.")
    needed = NEEDED.get(BulkAction(action)) if action in set(BulkAction) else None
    if needed:
        data[needed] = _parameter(needed, sent)
    return BulkChange.parse(data)


def _parameter(name: str, sent: QueryDict) -> Any:
    text = sent.get(f"set_{name}", "").strip()
    match name:
        case "tags":
            return parted(text)
        case "importance":
            return _number(text)
        case "category":
            return None if text == NO_CATEGORY else text
        case _:
            return text


def _number(text: str) -> int | str:
    """The number, or the text for the draft to refuse."""
    return int(text) if text.isdecimal() and len(text) < DIGITS else text
