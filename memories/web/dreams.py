"""The dream diary: what each dream did and why, one that is under way, and the button that asks for one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from memories.rules.consolidation import Change, What
from memories.rules.limits import DREAM_LOOKBACK_BY_HAND, DREAM_LOOKBACK_MAX
from memories.rules.tiermarkdown import HEADINGS, REASONS
from memories.rules.vocabulary import DreamState
from memories.search.dreams import DiaryEntry, DreamLine, get_dream, list_dreams
from memories.services.dreams import deep_dream
from memories.web.consolidating import consolidation_tabs
from memories.web.jobwords import row_of_job
from memories.web.namespaces import asked_namespace, in_namespace
from memories.web.rows import State
from memories.web.worddiff import Piece, word_diff
from memoryhub.lib.pages import SeeOther, answer_page, say

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.web.requests import HubRequest

DREAMS = 50
LOOKBACKS = (1, DREAM_LOOKBACK_BY_HAND, 7, 14, DREAM_LOOKBACK_MAX)
STATES = {
    DreamState.WAITING: State("Under way", "loader-circle", "note"),
    DreamState.DONE: State("Rewrote the document", "circle-check", "ok"),
    DreamState.UNCHANGED: State("Nothing to change", "check", "ok"),
    DreamState.SKIPPED: State("Nothing new to read", "circle-dashed", faded=True),
    DreamState.FAILED: State("Failed, nothing was changed", "triangle-alert", "bad"),
}
#: Why a dream changed nothing, and what to do.
ADVICE = {
    "nothing_noted": "No conversation left a note in these days. Look further back, or flush a session first.",
    "nothing_new": "Everything noted in these days was read by the dream before, and nothing has changed since.",
    "unreadable": "The language model's answer could not be read. Dream again, or choose another model.",
    "empty": "The language model answered nothing. Dream again, or choose another model.",
    "over_budget": "The language model's answer was longer than what it was made of. Dream again.",
    "drops_too_much": "The language model wanted to drop too much of the document. Dream again, or see the settings.",
    "job_died": "Every attempt failed; its job says why. Retry it there, or dream again.",
}


@dataclass(frozen=True, slots=True)
class DreamRow:
    """A dream in the diary's list."""

    dream: DreamLine
    state: State
    told: str
    url: str


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A line of the diary; ``pieces`` where words changed."""

    text: str
    why: str
    said: str
    pieces: list[Piece]
    url: str


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """What was added, changed, dropped or left out."""

    heading: str
    rows: list[ChangeRow]


def dreams(request: HubRequest) -> HttpResponse:
    """The diary, newest first."""
    where = asked_namespace(request)
    found = list_dreams(request.access, where.namespace, DREAMS + 1)
    context = {
        "tabs": consolidation_tabs("dreams"),
        "where": where,
        "rows": [_row(one) for one in found[:DREAMS]],
        "has_more": len(found) > DREAMS,
        "may_dream": request.access.has(KeyScope.SESSIONS),
        "ask_url": str(where.at(reverse("deep_dream"))),
        "lookbacks": LOOKBACKS,
        "usual": DREAM_LOOKBACK_BY_HAND,
    }
    return answer_page(request, "memories/dreams.html", context)


@require_POST
def ask(request: HubRequest) -> HttpResponse:
    """Dream now."""
    where, days = asked_namespace(request), request.POST.get("lookback_days", "")
    lookback = int(days) if days in {str(one) for one in LOOKBACKS} else DREAM_LOOKBACK_BY_HAND
    asked = deep_dream(request.access, where.namespace, lookback)
    say(request, "The hub dreams now.")
    return SeeOther(reverse("dream", args=[asked.pk]))


def dream(request: HubRequest, dream_id: UUID) -> HttpResponse:
    """One dream: how far it is, or what it did and why. Asks again by itself until it ended."""
    entry = get_dream(request.access, dream_id)
    may_see_jobs = request.access.has(KeyScope.OPS_READ)
    context = {
        "row": _row(entry.dream),
        "entry": entry,
        "job": row_of_job(entry.job, False) if entry.job and may_see_jobs else None,
        "is_going": _is_going(entry),
        "advice": ADVICE.get(entry.dream.reason, ""),
        "groups": _groups(entry.changes),
        "core": _core_urls(entry.dream),
        "here": request.path,
    }
    return answer_page(request, "memories/dream.html", context, part="dream")


def _core_urls(one: DreamLine) -> dict[str, str]:
    """The versions of the core document before and after it, where there are any."""
    numbers = {"before": one.version_before, "after": one.version_after}
    return {
        name: str(in_namespace(reverse("core_version", args=[number]), one.namespace))
        for name, number in numbers.items()
        if number
    }


def _is_going(entry: DiaryEntry) -> bool:
    going = entry.job is not None and row_of_job(entry.job, False).is_going
    return entry.dream.state == DreamState.WAITING and going


def _row(one: DreamLine) -> DreamRow:
    counts = one.counts
    told = [f"{counts[what.value]} {HEADINGS[what].lower()}" for what in What if counts.get(what.value)]
    return DreamRow(one, STATES[DreamState(one.state)], ", ".join(told), reverse("dream", args=[one.id]))


def _groups(changes: list[Change]) -> list[ChangeGroup]:
    groups = []
    for what, heading in HEADINGS.items():
        rows = [_change(change) for change in changes if change.what is what]
        groups += [ChangeGroup(heading, rows)] if rows else []
    return groups


def _change(change: Change) -> ChangeRow:
    return ChangeRow(
        text=change.text,
        why=REASONS.get(change.reason, change.reason),
        said=change.said,
        pieces=word_diff(change.before, change.text) if change.before else [],
        url=reverse("memory", args=[change.memory_ids[0]]),
    )
