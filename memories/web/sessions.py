"""Conversations in the browser: the list, one with its window and summary, and what would be remembered of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from memories.rules.facts import Verdict
from memories.rules.filters import MemoryFilter, Presence, StatusFilter
from memories.rules.messages import WindowQuery
from memories.search.listing import list_memories
from memories.search.sessions import SessionFilter, get_session, list_messages, list_sessions, read_window
from memories.services.extraction import preview_extraction
from memories.services.sessions import flush_session
from memories.web.actors import agent_names
from memories.web.addresses import Address
from memories.web.rows import MemoryRow, State, row_of
from memories.web.turns import ShownTurn, opened_summary, turns_of
from memoryhub.lib.errors import Invalid
from memoryhub.lib.pages import SeeOther, answer_page, say
from memoryhub.lib.pagination import CursorInvalid, CursorMismatch

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.models import Session
    from memories.search.sessions import SessionPage, Window
    from memories.services.extraction import Judged, Preview
    from memories.web.requests import HubRequest

TURNS = 50
MEMORIES = 20
VERDICTS = {
    Verdict.ACCEPTED: State("Remembered", "circle-check", "ok"),
    Verdict.DRAFT: State("Waits for you", "file-pen", "warn"),
    Verdict.DOUBTFUL: State("Too doubtful", "ban", faded=True),
    Verdict.REFUSED: State("Refused", "shield", "bad"),
    Verdict.OUTDATED: State("Said otherwise later", "ban", faded=True),
}


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact a preview found."""

    judged: Judged
    state: State
    turns: list[int]


@dataclass(frozen=True, slots=True)
class SessionPageContext:
    """Everything memories/session.html draws."""

    session: Session
    turns: list[ShownTurn]
    older_url: str
    window: Window
    window_ids: frozenset[UUID]
    asked: dict[str, str]
    mistakes: list[str]
    summary: str | None
    agent: str
    made: list[MemoryRow]
    made_url: str
    preview: Preview | None
    facts: list[FactRow]
    may_erase: bool


def sessions(request: HubRequest) -> HttpResponse:
    """The conversations of the vault, or of one user or agent, the last active first."""
    here = Address(
        request.path, tuple((name, request.GET[name]) for name in ("user_id", "agent_id") if name in request.GET)
    )
    whose = SessionFilter(here.first("user_id") or None, here.first("agent_id") or None)
    page = _page(request, whose)
    context = {
        "page": page,
        "agents": agent_names(request.access),
        "user": whose.user_id,
        "agent": whose.agent_id,
        "here": str(here),
        "next_url": str(here.having(cursor=page.next_cursor)) if page.next_cursor else "",
    }
    return answer_page(request, "memories/sessions.html", context)


def _page(request: HubRequest, whose: SessionFilter) -> SessionPage:
    try:
        return list_sessions(request.access, whose, TURNS, request.GET.get("cursor"))
    except (CursorInvalid, CursorMismatch):
        return list_sessions(request.access, whose, TURNS)


def session(request: HubRequest, session_id: UUID) -> HttpResponse:
    """One conversation: its turns, what a model would be shown, its summary, and what was remembered of it."""
    return _answer(request, session_id)


def preview(request: HubRequest, session_id: UUID) -> HttpResponse:
    """The same page with what extraction would find; asking is a POST, for a language model may be asked."""
    if request.method != "POST":
        return redirect("session", session_id)
    return _answer(request, session_id, preview_extraction(request.access, session_id))


@require_POST
def flush(request: HubRequest, session_id: UUID) -> HttpResponse:
    """Read it for memories now."""
    flushed = flush_session(request.access, session_id)
    say(request, "It is read for memories now." if flushed.queued else "Everything in it was read already.")
    return SeeOther(reverse("session", args=[session_id]))


def _answer(request: HubRequest, session_id: UUID, previewed: Preview | None = None) -> HttpResponse:
    found = get_session(request.access, session_id)
    asked, wanted, mistakes = _asked(request)
    before = request.GET.get("before", "")
    turns = list_messages(request.access, found, int(before) if before.isdecimal() and len(before) < 9 else None, TURNS)
    shown = read_window(request.access, found, wanted)
    first = turns[0].number if turns else 1
    agents = agent_names(request.access)
    mine = MemoryFilter(session_id=[found.sid], status=StatusFilter.ANY, archived=Presence.ANY)
    made = list_memories(request.access, mine, limit=MEMORIES).items
    here = reverse("session", args=[session_id])
    page = SessionPageContext(
        session=found,
        turns=turns_of(turns),
        older_url=str(Address(here).having(before=str(first))) if first > 1 else "",
        window=shown,
        window_ids=frozenset(one.message.pk for one in shown.shown),
        asked=asked,
        mistakes=mistakes,
        summary=opened_summary(found),
        agent=agents.get(found.agent_id or "", found.agent_id or ""),
        made=[row_of(memory, agents) for memory in made],
        made_url=str(Address(reverse("memories")).having(session_id=found.sid, status="any", archived="any")),
        preview=previewed,
        facts=[FactRow(one, VERDICTS[one.verdict], list(one.fact.sources)) for one in previewed.judged]
        if previewed
        else [],
        may_erase=request.access.has(KeyScope.MEMORIES_ERASE),
    )
    return answer_page(request, "memories/session.html", {"page": page})


def _asked(request: HubRequest) -> tuple[dict[str, str], WindowQuery, list[str]]:
    """What the window form says, as typed and as understood; what cannot be meant is left out and said."""
    typed = {name: request.GET.get(name, "").strip() for name in ("max_rounds", "max_tokens")}
    given, mistakes = {}, []
    for name, text in typed.items():
        if not text:
            continue
        try:
            WindowQuery.parse({name: int(text) if text.isdecimal() and len(text) < 9 else text})
            given[name] = int(text)
        except Invalid as error:
            mistakes.append(f"{name.replace('_', ' ')}: {error.errors[0].detail}")
    return typed, WindowQuery.parse(given), mistakes
