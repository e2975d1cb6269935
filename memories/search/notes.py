"""Read daily notes: the days there are, and one day's lines (TIE-04).

A line is shown to whoever may read every memory it came from; a conversation's summary to whoever may read it whole.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from banks.access import Access, KeyScope
from memories.models import CoreDocument, DailyNote, NoteLine, Session
from memories.search.reach import known_to, within
from memoryhub.lib.errors import NotFound

DEFAULT = ("default",)


@dataclass(frozen=True, slots=True)
class NoteDay:
    """A day with something to read, and how many lines of it the caller may read."""

    date: dt.date
    lines: int
    updated_at: dt.datetime


@dataclass(frozen=True, slots=True)
class ShownNote:
    """One day's note; ``sessions`` has the names of the conversations its lines are from."""

    note: DailyNote
    lines: list[NoteLine]
    sessions: Mapping[UUID | None, str]


def list_namespaces(access: Access) -> list[list[str]]:
    """Namespaces that have notes or a core document, ``default`` first. Needs memories:read.

    Of a caller limited to some banks or to itself, only those with a line it may read.
    """
    access.require(KeyScope.MEMORIES_READ)
    noted = {tuple(one) for one in _notes(access).values_list("namespace", flat=True).distinct()}
    if _sees_all(access):
        documents = CoreDocument.objects.filter(vault_id=access.vault_id, version__gt=0)
        noted |= {tuple(one) for one in documents.values_list("namespace", flat=True)}
    else:
        noted = {one for one in noted if list_daily_notes(access, one, limit=1)}
    return [list(one) for one in sorted(noted, key=lambda one: (one != DEFAULT, one))]


def list_daily_notes(
    access: Access, namespace: Sequence[str] = DEFAULT, before: dt.date | None = None, limit: int = 31
) -> list[NoteDay]:
    """The namespace's newest days, or those before a date. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    notes = _notes(access).filter(namespace=list(namespace))
    notes = notes.filter(date__lt=before) if before else notes
    if _sees_all(access):
        return [_day(note, note.line_count) for note in notes.order_by("-date")[:limit]]
    days: list[NoteDay] = []
    for note in notes.order_by("-date").iterator(50):
        readable = len(_readable(access, note.lines.all()))
        days += [_day(note, readable)] if readable else []
        if len(days) == limit:
            break
    return days


def read_daily_note(access: Access, date: dt.date, namespace: Sequence[str] = DEFAULT) -> ShownNote:
    """One day's note. Needs memories:read. Raises NotFound, also when there is no line the caller may read."""
    access.require(KeyScope.MEMORIES_READ)
    note = _notes(access).filter(namespace=list(namespace), date=date).first()
    lines = _readable(access, note.lines.order_by("at", "pk")) if note else []
    if note is None or not lines:
        raise NotFound("Nothing was noted on that day in this namespace.")
    ids = {line.session_id for line in lines if line.session_id}
    names = Session.objects.filter(vault_id=access.vault_id, pk__in=ids).values_list("pk", "sid")
    return ShownNote(note, lines, dict(names))


def _notes(access: Access) -> QuerySet[DailyNote]:
    return DailyNote.objects.filter(vault_id=access.vault_id, line_count__gt=0)


def _day(note: DailyNote, lines: int) -> NoteDay:
    return NoteDay(note.date, lines, note.updated_at)


def _sees_all(access: Access) -> bool:
    """Whether no line of the vault is kept from the caller."""
    return access.bank_ids is None and access.agent is None and access.has(KeyScope.SESSIONS)


def _readable(access: Access, lines: Iterable[NoteLine]) -> list[NoteLine]:
    there = list(lines)
    known = known_to(access, (one for line in there for one in line.memory_ids))
    heard = _sessions_heard(access, {line.session_id for line in there if line.session_id and not line.memory_ids})
    return [line for line in there if (within(line.memory_ids, known) if line.memory_ids else line.session_id in heard)]


def _sessions_heard(access: Access, ids: set[UUID]) -> set[UUID]:
    """Conversations the caller may read."""
    if not ids or not access.has(KeyScope.SESSIONS):
        return set()
    return set(Session.objects.visible_to(access).filter(pk__in=ids).values_list("pk", flat=True))
