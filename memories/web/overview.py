"""The first page: how the hub is, what waits for a person, what just happened, and the plots of what happened before.

Every block is put together by itself: one that fails says so in its place, and the others stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog
from django.db import DatabaseError, InterfaceError
from django.urls import reverse
from django_htmx.http import HttpResponseClientRefresh

from banks.access import KeyScope
from banks.services.audit import count_audit_after, list_audit
from banks.services.banks import list_banks
from memories.rules.filters import MemoryFilter
from memories.rules.rollups import Metric, Period
from memories.rules.vocabulary import SkipReason
from memories.search.standing import Standing, count_standing
from memories.search.statistics import read_guard_spells, read_statistics
from memories.search.timing import WHOLE
from memories.services.inbox import read_inbox
from memories.services.reviewing import count_waiting
from memories.web import plots
from memories.web.activity import activity_lines
from memories.web.addresses import Address, address_of
from memories.web.choices import Choice
from memories.web.healthstrip import broker_vitals, embedder_vitals, model_vitals, store_vitals
from memories.web.modelcalls import guard_rows
from memories.web.overviewtiles import first_steps, inbox_lines, tiles
from memoryhub.lib.errors import HubError
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.http import HttpResponse

    from banks.access import Access
    from memories.search.statistics import Statistics
    from memories.web.healthstrip import Vital
    from memories.web.requests import HubRequest

RECENT = 7
NEWS_MAX = 50
PERIODS = {Period.DAY: "24 hours", Period.WEEK: "7 days", Period.MONTH: "30 days", Period.QUARTER: "90 days"}
COUNTED = [metric for metric in Metric if metric not in (Metric.TOKENS, Metric.FILLED)]
log = structlog.get_logger(__name__)


class _NotThere(Exception):
    """What a block is made of could not be read."""


#: What a block may lack while the others stand; a mistake of ours is none of it.
FAILURES = (HubError, DatabaseError, InterfaceError, OSError, _NotThere)


@dataclass(frozen=True, slots=True)
class Block[T]:
    """A part of the page; or ``what`` could not be put together, as parts/failed.html says it."""

    what: str
    value: T | None = None
    failed: bool = False
    why: str = "What it needs did not answer in time."
    still: str = "The rest of this page is as it should be."


def block[T](what: str, build: Callable[[], T]) -> Block[T]:
    """What ``build`` gives; where the database, the broker or a service fails it, a block that says so."""
    try:
        return Block(what, build())
    except FAILURES:
        log.exception("overview_block_failed", block=what)
        return Block(what, failed=True)


def overview(request: HubRequest) -> HttpResponse:
    """The page for this vault and this person, over the period asked for."""
    access, here = request.access, address_of(request.path, request.GET, ("period", "clock", "stage"))
    period = next((one for one in Period if one == here.first("period")), Period.MONTH)
    found = block("The counts", lambda: read_statistics(access, period, COUNTED))
    context: dict[str, Any] = {"hub_url": request.build_absolute_uri("/").rstrip("/")}
    inbox = block("What waits", lambda: read_inbox(access))
    uncounted = found.value is not None and found.value.is_untouched
    if uncounted and count_standing(access, MemoryFilter())[Standing.ALL] == 0:
        context |= {"is_empty": True, "steps": first_steps(access, inbox.value)}
        return answer_page(request, "memories/overview.html", context, part="first-run")
    if request.htmx.target == "first-run":
        return HttpResponseClientRefresh()  # the first memory is there while somebody waits for it
    counts = block("The banks", lambda: _sure(found).in_banks())
    guards = block("The guards", lambda: guard_rows(access))
    waiting = block("The review queue", lambda: count_waiting(access))
    if waiting.value is not None:
        context["waiting"] = waiting.value
    context |= {
        "uncounted": uncounted,
        "vitals": _vitals(inbox, guards),
        "guards": [row for row in guards.value or [] if row.is_open],
        "held_back": _held_back(found.value),
        "span": PERIODS[period],
        "may_reset": access.has(KeyScope.OPS_WRITE),
        "tiles": block("The numbers", lambda: tiles(counts.value or {}, found.value, inbox.value, PERIODS[period])),
        "inbox": block("What waits", lambda: inbox_lines(access, _sure(inbox), waiting.value)),
        "recent": block("What happened lately", lambda: _recent(access)),
        "periods": [
            Choice(words, str(here.having(period=one)), selected=one is period) for one, words in PERIODS.items()
        ],
        "plots": block("The plots", lambda: _plots(access, _sure(found), here)),
        "shares": block("The banks", lambda: plots.bank_shares(list_banks(access), _sure(counts), reverse("memories"))),
    }
    return answer_page(request, "memories/overview.html", context)


def recent(request: HubRequest) -> HttpResponse:
    """The list of what just happened, anew: what somebody asked for by pressing "show"."""
    return answer_page(
        request, "memories/recent.html", {"recent": block("What happened lately", lambda: _recent(request.access))}
    )


def news(request: HubRequest) -> HttpResponse:
    """How much happened since the list was drawn: a button, never the things themselves, which would move the page."""
    after = request.GET.get("after", "")
    latest = int(after) if after.isdecimal() and len(after) < 19 else 0
    context = {"after": latest, "fresh": count_audit_after(request.access, latest, NEWS_MAX), "most": NEWS_MAX}
    return answer_page(request, "memories/news.html", context)


def _held_back(found: Statistics | None) -> int | None:
    """How many calls were not made because a guard was open."""
    return None if found is None else sum(found.flow(Metric.SKIPPED).get(SkipReason.GUARD_OPEN, ()))


def _recent(access: Access) -> dict[str, Any]:
    entries = list_audit(access, RECENT)
    return {"lines": activity_lines(access, entries), "after": entries[0].pk if entries else 0}


def _vitals(inbox: Block[Any], guards: Block[Any]) -> list[Vital | None]:
    """Every part of the health strip; None in the place of one that could not be asked."""
    parts: Sequence[tuple[int, Block[list[Vital]]]] = (
        (2, block("The store", lambda: store_vitals(_sure(inbox)))),
        (2, block("The broker", broker_vitals)),
        (1, block("The model", lambda: model_vitals(_sure(guards)))),
        (1, block("The embedder", lambda: embedder_vitals(_sure(guards)))),
    )
    return [vital for count, part in parts for vital in (*(part.value or ()), *([] if part.value else [None] * count))]


def _plots(access: Access, found: Statistics, here: Address) -> dict[str, Any]:
    clock = here.first("clock") if here.first("clock") in plots.CLOCKS else ""
    stages = [stage for stage in found.measured() if stage != WHOLE]
    stage = here.first("stage") if here.first("stage") in stages else ""
    names = {service.value: row for service, row in plots.GUARDS.items()}
    return {
        "memories": plots.memories_plot(found, clock),
        "clocks": [
            Choice(words, f"{here.having(clock=one)}#memories-title-card", selected=one == clock)
            for one, (words, _) in plots.CLOCKS.items()
        ],
        "clock_said": plots.CLOCKS[clock][1],
        "latency": plots.latency_plot(found, stage),
        "stages": [
            Choice(one or "Whole search", f"{here.having(stage=one)}#latency-card", selected=one == stage)
            for one in ["", *plots.in_order(stages)]
        ],
        "calls": plots.calls_plot(found),
        "strip": plots.guard_strip(found.grid, read_guard_spells(access, found.grid.since), names),
        "dedup": plots.dedup_plot(found),
        "queue": plots.queue_plot(found),
    }


def _sure[T](part: Block[T]) -> T:
    """Its value. Raises _NotThere where it failed, so that what needs it fails as well."""
    if part.value is None:
        raise _NotThere
    return part.value
