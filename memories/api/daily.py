"""Daily notes: the days there are and one day's note, as JSON or Markdown (TIE-04, CON-19)."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router
from pydantic import with_config

from banks.access import KeyScope
from memories.api.markdown import MARKDOWN, markdown_answer, wants_markdown
from memories.api.requests import ApiRequest
from memories.models import NoteLine
from memories.rules.tiermarkdown import NotedLine, daily_markdown
from memories.rules.tierqueries import DaysQuery, NoteQuery
from memories.rules.vocabulary import NoteKind
from memories.search import notes
from memories.search.notes import ShownNote
from memoryhub.lib.answers import json_answer
from memoryhub.lib.moments import Day
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.sealing import opened

router = Router()


@with_config(shown({"date": "2026-11-21", "lines": 3}))
class DayOut(TypedDict):
    """A day with a note: how many lines of it the caller may read."""

    date: dt.date
    lines: int
    updated_at: dt.datetime


@with_config(shown({"namespace": ["default"]}))
class DayList(TypedDict):
    """The newest days; ``next_before`` is what to send as ``before`` for the next page, null at the end."""

    namespace: list[str]
    items: list[DayOut]
    next_before: dt.date | None


@with_config(shown({"kind": "new", "text": "Alice prefers green tea.", "session_id": "monday"}))
class NoteLineOut(TypedDict):
    """One thing that was noted: ``kind`` is new, renewed, again, draft or summary.

    ``text`` is null when it does not open. ``memory_ids`` are what it came from; a summary comes from no memory.
    """

    at: dt.datetime
    kind: Annotated[str, Word(NoteKind)]
    text: str | None
    session_id: str | None
    memory_ids: list[UUID]


@with_config(shown({"namespace": ["default"], "markdown": "# 2026-11-21\n\n- 10:15 Alice prefers green tea.\n"}))
class NoteOut(TypedDict):
    """One day's note; ``left_out`` counts what came after it was full."""

    namespace: list[str]
    date: dt.date
    lines: list[NoteLineOut]
    left_out: int
    updated_at: dt.datetime
    markdown: str


@router.get("/daily", response=DayList, **told("List days with a note", KeyScope.MEMORIES_READ))
def list_daily_notes(request: ApiRequest, wanted: Query[DaysQuery]) -> HttpResponse:
    """The days on which something was noted, newest first."""
    days = notes.list_daily_notes(request.access, wanted.namespace, wanted.before, wanted.limit + 1)
    shown = days[: wanted.limit]
    items = [{"date": day.date, "lines": day.lines, "updated_at": day.updated_at} for day in shown]
    more = shown[-1].date if len(days) > wanted.limit else None
    return json_answer({"namespace": wanted.namespace, "items": items, "next_before": more})


@router.get(
    "/daily/{date}",
    response=NoteOut,
    **told(
        "Read the note of a day",
        KeyScope.MEMORIES_READ,
        also={MARKDOWN: "# 2026-11-21\n\n- 10:15 Alice prefers green tea.\n"},
    ),
)
def read_daily_note(request: ApiRequest, date: Day, wanted: Query[NoteQuery]) -> HttpResponse:
    """What was noted on a day (UTC); as Markdown with `Accept: text/markdown` or `?format=md`."""
    shown = notes.read_daily_note(request.access, date, wanted.namespace)
    texts = [opened(line, "text") for line in shown.lines]
    markdown = _markdown(shown, texts)
    if wants_markdown(request, wanted.format):
        return markdown_answer(markdown)
    body: NoteOut = {
        "namespace": shown.note.namespace,
        "date": shown.note.date,
        "lines": [_line_out(line, text, shown) for line, text in zip(shown.lines, texts, strict=True)],
        "left_out": shown.note.left_out,
        "updated_at": shown.note.updated_at,
        "markdown": markdown,
    }
    return json_answer(body)


def _line_out(line: NoteLine, text: str | None, shown: ShownNote) -> NoteLineOut:
    return {
        "at": line.at,
        "kind": line.kind,
        "text": text,
        "session_id": shown.sessions.get(line.session_id),
        "memory_ids": line.memory_ids,
    }


def _markdown(shown: ShownNote, texts: list[str | None]) -> str:
    lines = [
        NotedLine(line.at, shown.sessions.get(line.session_id, ""), NoteKind(line.kind), text or "(cannot be opened)")
        for line, text in zip(shown.lines, texts, strict=True)
    ]
    return daily_markdown(shown.note.date, lines, shown.note.left_out)
