"""The first page: how the hub is, what waits for a person, what just happened, and the plots of what happened before.

Every block is put together by itself: one that fails says so in its place, and the others stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django_htmx.http import HttpResponseClientRefresh

from banks.access import KeyScope
from banks.services.audit import count_audit_after
from banks.services.auditlines import list_audit_lines
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
from memoryhub.lib.pages import Failed, answer_page, part_of, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.http import HttpResponse

    from banks.access import Access
    from memories.search.statistics import Statistics
    from memories.services.inbox import Inbox
    from memories.web.healthstrip import Vital
    from memories.web.modelcalls import GuardRow
    from memories.web.requests import HubRequest

RECENT = 10
NEWS_MAX = 50
PERIODS = {Period.DAY: "24 hours", Period.WEEK: "7 days", Period.MONTH: "30 days", Period.QUARTER: "90 days"}
COUNTED = [metric for metric in Metric if metric not in (Metric.TOKENS, Metric.FILLED)]
#: What a page says beside a part of it that could not be made.
STILL = "The rest of this page is as it should be."


def _part[T](what: str, make: Callable[[], T]) -> T | Failed:
    """A block of this page."""
    return part_of(make, what, STILL)


def _there[T](part: T | Failed) -> T | None:
    """What can do without."""
    return None if isinstance(part, Failed) else part


def overview(request: HubRequest) -> HttpResponse:
    """The page for this vault and this person, over the period asked for."""
    access, here = request.access, address_of(request.path, request.GET, ("period", "clock", "stage"))
    period = next((one for one in Period if one == here.first("period")), Period.MONTH)
    found = _part("The counts", lambda: read_statistics(access, period, COUNTED))
    context: dict[str, Any] = {"hub_url": request.build_absolute_uri("/").rstrip("/")}
    inbox = _part("What waits", lambda: read_inbox(access))
    counted = _there(found)
    uncounted = counted is not None and counted.is_untouched
    if uncounted and count_standing(access, MemoryFilter())[Standing.ALL] == 0:
        context |= {"is_empty": True, "steps": first_steps(access, _there(inbox))}
        return answer_page(request, "memories/overview.html", context, part="first-run")
    if request.htmx.target == "first-run":
        return HttpResponseClientRefresh()  # the first memory is there while somebody waits for it
    counts = _part("The banks", lambda: whole(found).in_banks())
    guards = _part("The guards", lambda: guard_rows(access))
    waiting = _part("The review queue", lambda: count_waiting(access))
    if not isinstance(waiting, Failed):
        context["waiting"] = waiting
    context |= {
        "uncounted": uncounted,
        "vitals": _vitals(inbox, guards),
        "guards": [row for row in _there(guards) or [] if row.is_open],
        "held_back": _held_back(counted),
        "span": PERIODS[period],
        "may_reset": access.has(KeyScope.OPS_WRITE),
        "tiles": _part("The numbers", lambda: tiles(_there(counts) or {}, counted, _there(inbox), PERIODS[period])),
        "inbox": _part("What waits", lambda: inbox_lines(access, whole(inbox), _there(waiting))),
        "recent": _part("What happened lately", lambda: _recent(access)),
        "periods": [
            Choice(words, str(here.having(period=one)), selected=one is period) for one, words in PERIODS.items()
        ],
        "is_sample": not isinstance(inbox, Failed) and inbox.is_sample,
        "plots": _part("The plots", lambda: _plots(access, whole(found), here)),
        "shares": _part("The banks", lambda: plots.bank_shares(list_banks(access), whole(counts), reverse("memories"))),
    }
    return answer_page(request, "memories/overview.html", context)


def recent(request: HubRequest) -> HttpResponse:
    """The list of what just happened, anew: what somebody asked for by pressing "show"."""
    return answer_page(
        request, "memories/recent.html", {"recent": _part("What happened lately", lambda: _recent(request.access))}
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
    found = list_audit_lines(access, RECENT)
    return {"lines": activity_lines(access, found), "after": found[0].entry.pk if found else 0}


def _vitals(inbox: Inbox | Failed, guards: Sequence[GuardRow] | Failed) -> list[Vital | None]:
    """Every part of the health strip; None in the place of one that could not be asked."""
    asked: Sequence[tuple[int, list[Vital] | Failed]] = (
        (2, _part("The store", lambda: store_vitals(whole(inbox)))),
        (2, _part("The broker", broker_vitals)),
        (1, _part("The model", lambda: model_vitals(whole(guards)))),
        (1, _part("The embedder", lambda: embedder_vitals(whole(guards)))),
    )
    return [vital for count, found in asked for vital in ([None] * count if isinstance(found, Failed) else found)]


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
