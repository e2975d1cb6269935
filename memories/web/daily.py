"""Daily notes: the days on which something was noted, and one day to read."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import Http404
from django.urls import reverse

from memories.models import NoteLine
from memories.rules.vocabulary import NoteKind
from memories.search.notes import NoteDay, list_daily_notes, read_daily_note
from memories.web.consolidating import consolidation_tabs
from memories.web.namespaces import InNamespace, asked_namespace
from memories.web.rows import State
from memoryhub.lib.crypto import CryptoError
from memoryhub.lib.errors import NotFound
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from memories.search.notes import ShownNote
    from memories.web.requests import HubRequest

DAYS = 62
KINDS = {
    NoteKind.RENEWED: State("Replaces what was known", "replace", "note"),
    NoteKind.AGAIN: State("Said again", "refresh-cw"),
    NoteKind.DRAFT: State("Waited for review", "file-pen", "warn"),
}


@dataclass(frozen=True, slots=True)
class DayLink:
    """A day in the calendar."""

    date: dt.date
    lines: int
    url: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Month:
    """A month's days, the newest first."""

    first: dt.date
    days: list[DayLink]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the note, with a way to the memory it came from; ``text`` is None when it does not open."""

    text: str | None
    state: State | None
    url: str
    is_summary: bool


@dataclass(frozen=True, slots=True)
class Part:
    """What one reading of a conversation left behind."""

    at: dt.datetime
    session: str
    session_url: str
    lines: list[Line]


def daily_notes(request: HubRequest, day: str = "") -> HttpResponse:
    """The days, and the one that was asked for, or the newest."""
    where = asked_namespace(request)
    days = list_daily_notes(request.access, where.namespace, limit=DAYS + 1)
    wanted = _day(day) or (days[0].date if days else None)
    shown = _shown(request, where, wanted, required=bool(day))
    context = {
        "tabs": consolidation_tabs("daily_notes"),
        "where": where,
        "months": _months(days[:DAYS], where, wanted),
        "has_more": len(days) > DAYS,
        "date": wanted,
        "note": shown.note if shown else None,
        "parts": _parts(shown) if shown else [],
    }
    return answer_page(request, "memories/daily_notes.html", context)


def _day(text: str) -> dt.date | None:
    if not text:
        return None
    try:
        return dt.datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        raise Http404 from None


def _shown(request: HubRequest, where: InNamespace, wanted: dt.date | None, *, required: bool) -> ShownNote | None:
    if wanted is None:
        return None
    try:
        return read_daily_note(request.access, wanted, where.namespace)
    except NotFound:
        if required:
            raise
        return None


def _months(days: list[NoteDay], where: InNamespace, shown: dt.date | None) -> list[Month]:
    months: dict[dt.date, list[DayLink]] = {}
    for day in days:
        url = str(where.at(reverse("daily_note", args=[day.date.isoformat()])))
        link = DayLink(day.date, day.lines, url, day.date == shown)
        months.setdefault(day.date.replace(day=1), []).append(link)
    return [Month(first, links) for first, links in months.items()]


def _parts(shown: ShownNote) -> list[Part]:
    parts: dict[tuple[object, dt.datetime], Part] = {}
    for line in shown.lines:
        session = shown.sessions.get(line.session_id, "")
        url = reverse("session", args=[line.session_id]) if line.session_id else ""
        part = parts.setdefault((line.session_id, line.at), Part(line.at, session, url, []))
        part.lines.append(_line(line))
    return list(parts.values())


def _line(line: NoteLine) -> Line:
    try:
        text: str | None = line.text
    except CryptoError:
        text = None
    kind = NoteKind(line.kind)
    url = reverse("memory", args=[line.memory_ids[0]]) if line.memory_ids else ""
    return Line(text, KINDS.get(kind), url, kind is NoteKind.SUMMARY)
