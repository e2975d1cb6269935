"""The ledger of questions to language models, and the guard that stops them, as people see them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.urls import reverse
from django.views.decorators.http import require_POST

from memories.rules.vocabulary import CallResult, GuardedService, GuardMode
from memories.services.modelcalls import GuardView, count_model_calls, list_model_calls, read_guard, reset_guard
from memories.web.activity import activity_tabs
from memories.web.addresses import Address
from memories.web.choices import Choice
from memories.web.forms import spoken
from memories.web.rows import State
from memoryhub.lib.clock import now
from memoryhub.lib.pages import SeeOther, answer_page, say
from memoryhub.providers.registry import get_chat_model

if TYPE_CHECKING:
    from django.http import HttpResponse

    from banks.access import Access
    from memories.models import ModelCall
    from memories.web.requests import HubRequest

PAGE = 50
RECENT = dt.timedelta(hours=24)
RESULTS = {
    CallResult.OK: State("Answered", "circle-check", "ok"),
    CallResult.ERROR: State("Failed", "triangle-alert", "bad"),
    CallResult.UNREADABLE: State("Unreadable", "triangle-alert", "warn"),
    CallResult.SKIPPED: State("Not asked", "circle-dashed"),
}
MODES = {
    GuardMode.CLOSED: State("Calls go out", "circle-check", "ok"),
    GuardMode.OPEN: State("Paused: nothing is asked", "ban", "bad"),
    GuardMode.HALF_OPEN: State("Trying with one call", "clock", "warn"),
}
NO_MODEL = State("No model: nothing is asked", "circle-dashed")
REASONS = {
    "no_model": "No model is configured",
    "guard_open": "The error guard is open",
    "all_relevant": "The best were near enough already",
    "nothing_new": "Nothing was new",
    "shortcut": "A pattern said it all",
}
SERVICES = {
    GuardedService.CHAT: ("language model", "searches and writes go on without it, and what needs it waits."),
    GuardedService.EMBEDDER: ("embedding service", "memories are found by their words and get their vectors later."),
}


@dataclass(frozen=True, slots=True)
class CallRow:
    """One question, or why it was not asked."""

    call: ModelCall
    purpose: str
    state: State
    why: str
    was_asked: bool


@dataclass(frozen=True, slots=True)
class GuardRow:
    """One service's guard in words."""

    view: GuardView
    name: str
    meanwhile: str
    state: State

    @property
    def is_open(self) -> bool:
        """Whether calls are held back."""
        return self.view.mode is not GuardMode.CLOSED

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to call."""
        return self.state is NO_MODEL


def guard_rows(access: Access) -> list[GuardRow]:
    """The guards of this vault. Needs ops:read."""
    return [GuardRow(view, *SERVICES[view.service], _mode(view)) for view in read_guard(access)]


def _mode(view: GuardView) -> State:
    """A service that nobody uses is not said to be called."""
    idle = view.mode is GuardMode.CLOSED and view.service is GuardedService.CHAT and get_chat_model() is None
    return NO_MODEL if idle else MODES[view.mode]


def model_calls(request: HubRequest) -> HttpResponse:
    """The ledger, newest first, of one result or of all."""
    asked, before = request.GET.get("result", ""), _uuid(request.GET.get("before", ""))
    result = CallResult(asked) if asked in set(CallResult) else None
    found = list_model_calls(request.access, result, PAGE + 1, before)
    recent = count_model_calls(request.access, now() - RECENT)
    shown, everything = found[:PAGE], Address(request.path)
    here = everything.having(result=result.value) if result else everything
    context = {
        "tabs": activity_tabs("model_calls"),
        "results": [_tile(one, everything, one is result, recent.results[one.value]) for one in CallResult],
        "tokens": recent.tokens_in + recent.tokens_out,
        "rows": [_row(call) for call in shown],
        "has_model": get_chat_model() is not None,
        "older_url": str(here.having(before=str(shown[-1].pk))) if len(found) > PAGE else "",
        "newest_url": str(here),
        "is_first": before is None,
    }
    return answer_page(request, "memories/model_calls.html", context)


def _tile(result: CallResult, everything: Address, selected: bool, count: int) -> Choice:
    """A number that leads to its rows, and from there back to all of them."""
    url = everything if selected else everything.having(result=result.value)
    return Choice(f"{RESULTS[result].label}, 24 hours", str(url), count, selected)


def _row(call: ModelCall) -> CallRow:
    result = CallResult(call.result)
    return CallRow(
        call=call,
        purpose=spoken(call.purpose),
        state=RESULTS[result],
        why=call.detail or REASONS.get(call.reason, spoken(call.reason) if call.reason else ""),
        was_asked=result is not CallResult.SKIPPED,
    )


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


@require_POST
def reset(request: HubRequest) -> HttpResponse:
    """Close the guards of this vault."""
    reset_guard(request.access)
    say(request, "Calls go out again; the errors are forgotten.")
    return SeeOther(reverse("system"))
