"""Keep the daily notes: a line for each thing a conversation left behind, once, with its effect (TIE-03, TIE-08)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q

from banks.access import Access
from memories.models import CoreVersion, DailyNote, Dream, Message, NoteLine, Session
from memories.rules.consolidation import Change
from memories.rules.coretext import CoreLine, one_line
from memories.rules.drafts import MemoryDraft
from memories.rules.promotion import PromotionRules, is_noted
from memories.rules.vocabulary import NoteKind, Outcome, Status
from memories.services.writing import WriteResult
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError
from memoryhub.lib.ids import new_id

_KINDS = {
    Outcome.CREATED: NoteKind.NEW,
    Outcome.UPDATED: NoteKind.RENEWED,
    Outcome.SUPERSEDED: NoteKind.RENEWED,
    Outcome.DUPLICATE: NoteKind.AGAIN,
    Outcome.IDEMPOTENT: NoteKind.AGAIN,
}

type Writes = Iterable[tuple[MemoryDraft, WriteResult | HubError]]


def note_memories(
    access: Access, session: Session, messages: Sequence[Message], writes: Writes, settings: Mapping[str, Any]
) -> int:
    """Note what these messages became, in the transaction that wrote it; how many lines (TIE-02, TIE-03).

    The note is that of the conversation's namespace and of the day (UTC) of the newest of the messages.
    """
    rules, at = PromotionRules.of(settings), max(message.created_at for message in messages)
    lines = [
        NoteLine(
            id=new_id(),
            vault_id=access.vault_id,
            session_id=session.pk,
            kind=_kind(result).value,
            text=one_line(draft.content),
            memory_ids=[result.memory.pk],
            at=at,
        )
        for draft, result in writes
        if not isinstance(result, HubError) and is_noted(result.memory, rules)
    ]
    return _append(access, session.namespace, at, lines, settings["daily_max_lines"])


def _kind(result: WriteResult) -> NoteKind:
    return NoteKind.DRAFT if result.memory.status == Status.DRAFT else _KINDS[result.outcome]


def note_summary(access: Access, session: Session, through: Message, settings: Mapping[str, Any]) -> None:
    """Note the conversation's running summary in place of the one noted that day, in the transaction that made it."""
    at = through.created_at
    noted = NoteLine.objects.filter(
        note__vault_id=access.vault_id, note__date=_day(at), session=session, kind=NoteKind.SUMMARY
    ).first()
    if noted is not None:
        noted.text, noted.at = session.summary, at
        noted.save(update_fields=["text", "at"])
        return
    line = NoteLine(
        id=new_id(),
        vault_id=access.vault_id,
        session_id=session.pk,
        kind=NoteKind.SUMMARY.value,
        text=session.summary,
        at=at,
    )
    _append(access, session.namespace, at, [line], settings["daily_max_lines"])


def _append(access: Access, namespace: list[str], at: dt.datetime, lines: list[NoteLine], limit: int) -> int:
    if not lines:
        return 0
    fresh = DailyNote(vault_id=access.vault_id, namespace=namespace, date=_day(at))
    DailyNote.objects.bulk_create([fresh], ignore_conflicts=True)
    notes = DailyNote.objects.select_for_update(no_key=True)
    note = notes.get(vault_id=access.vault_id, namespace=namespace, date=_day(at))
    taken = lines[: max(limit - note.line_count, 0)]
    for line in taken:
        line.note_id = note.pk
    insert_rows(taken)
    note.line_count += len(taken)
    note.left_out += len(lines) - len(taken)
    note.updated_at = now()
    note.save(update_fields=["line_count", "left_out", "updated_at"])
    return len(taken)


def _day(at: dt.datetime) -> dt.date:
    return at.astimezone(dt.UTC).date()


def forget_notes(access: Access, memory_ids: Collection[UUID], session_ids: Collection[UUID] = ()) -> int:
    """Remove every line that came from these memories or conversations, in the transaction that erases them; how many.

    Daily notes, all versions of core documents and the diary. A line of the core document comes from memories only:
    what a conversation left in them stays until they are erased themselves.
    """
    ids = list(memory_ids)
    with transaction.atomic():
        removed = _forget_note_lines(access, ids, list(session_ids))
        for version in CoreVersion.objects.filter(vault_id=access.vault_id, memory_ids__overlap=ids):
            lines = [CoreLine.read(line) for line in version.lines]
            kept = [line for line in lines if not set(line.memory_ids) & set(ids)]
            removed += len(lines) - len(kept)
            version.lines = [line.stored() for line in kept]
            version.memory_ids = sorted({one for line in kept for one in line.memory_ids})
            version.save(update_fields=["lines", "memory_ids"])
        for dream in Dream.objects.filter(vault_id=access.vault_id, memory_ids__overlap=ids):
            changes = [Change.read(change) for change in dream.diary]
            told = [change for change in changes if not set(change.memory_ids) & set(ids)]
            removed += len(changes) - len(told)
            dream.diary = [change.stored() for change in told]
            dream.memory_ids = sorted({one for change in told for one in change.memory_ids})
            dream.save(update_fields=["diary", "memory_ids"])
    return removed


def _forget_note_lines(access: Access, memory_ids: list[UUID], session_ids: list[UUID]) -> int:
    came_from = Q(memory_ids__overlap=memory_ids) | Q(session_id__in=session_ids)
    lines = NoteLine.objects.filter(came_from, vault_id=access.vault_id)
    of_notes: dict[UUID, int] = {}
    for note_id in lines.values_list("note_id", flat=True):
        of_notes[note_id] = of_notes.get(note_id, 0) + 1
    lines.delete()
    for note_id, count in of_notes.items():
        DailyNote.objects.filter(pk=note_id).update(line_count=F("line_count") - count)
    DailyNote.objects.filter(pk__in=of_notes, line_count=0).delete()
    return sum(of_notes.values())
