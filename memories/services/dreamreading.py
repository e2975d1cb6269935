"""What a dream reads: the notes of some days, the core document, and the memories both speak of."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from banks.access import Access
from memories.models import CoreDocument, CoreVersion, Dream, Memory, NoteLine
from memories.rules.consolidation import Material
from memories.rules.coretext import Audience, CoreLine, Remembered
from memories.rules.promotion import PromotionRules
from memories.rules.vocabulary import Scope, Status
from memories.services.meeting import has_expired
from memoryhub.lib.crypto import DecryptionError, UnknownKey, keyed_hash

#: A chain of successors is followed this far.
_LONGEST_CHAIN = 50


@dataclass(frozen=True, slots=True)
class Reading:
    """The material, with the version it was read at and the lines of notes it was read from."""

    material: Material
    version: int
    line_ids: list[UUID]


def read_notes(access: Access, dream: Dream, today: dt.date) -> Reading:
    """The dream's material: of its namespace and no other (TIE-20).

    Notes from before somebody went back to an earlier version are left alone: they were judged then.
    """
    document = CoreDocument.objects.get(vault_id=access.vault_id, namespace=dream.namespace)
    noted = NoteLine.objects.filter(
        note__vault_id=access.vault_id,
        note__namespace=dream.namespace,
        note__date__gte=today - dt.timedelta(days=dream.lookback_days),
    ).exclude(memory_ids=[])
    if document.restored_at is not None:
        noted = noted.filter(created_at__gt=document.restored_at)
    rows = list(noted.order_by("at", "pk").values_list("pk", "memory_ids"))
    lines = lines_of_version(access, document, document.version)
    ids = [memory_id for _, memory_ids in rows for memory_id in memory_ids]
    known = _remembered(access, dream.namespace, {*ids, *(one for line in lines for one in line.memory_ids)})
    material = Material(lines, ids, known, _mentions(access, dream.namespace, known))
    return Reading(material, document.version, [line_id for line_id, _ in rows])


def lines_of_version(access: Access, document: CoreDocument, number: int) -> list[CoreLine]:
    """The lines of a version; none of version 0."""
    version = CoreVersion.objects.filter(vault_id=access.vault_id, document=document, number=number).first()
    return [CoreLine.read(line) for line in version.lines] if version else []


def _remembered(access: Access, namespace: list[str], ids: Collection[UUID]) -> dict[UUID, Remembered]:
    """The memories and everything that took their place."""
    rows: dict[UUID, Memory] = {}
    wanted = set(ids)
    for _ in range(_LONGEST_CHAIN):
        found = Memory.objects.in_vault(access.vault_id).filter(namespace=namespace, pk__in=wanted - rows.keys())
        fresh = {row.pk: row for row in found}
        rows |= fresh
        wanted = {row.superseded_by_id for row in fresh.values() if row.superseded_by_id}
        if not wanted - rows.keys():
            break
    return {row.pk: _as_remembered(row, rows) for row in rows.values()}


def _as_remembered(row: Memory, rows: Mapping[UUID, Memory]) -> Remembered:
    text, gone = "", _gone_of(row)
    if not gone:
        try:
            text = row.content
        except (DecryptionError, UnknownKey):
            gone = "unreadable"
    return Remembered(
        id=row.pk,
        version=row.version,
        text=text,
        audience=Audience(row.bank_id, row.agent_id if row.scope == Scope.AGENT else None),
        type=row.type,
        importance=row.importance,
        confidence=row.confidence,
        is_protected=row.is_protected,
        at=row.created_at,
        fact_key=row.fact_key,
        user_id=row.user_id,
        gone=gone,
        successor=_head_of(row, rows),
    )


def _gone_of(row: Memory) -> str:
    """Why a memory holds no longer, as a code; empty while it does."""
    if row.superseded_by_id is not None:
        return "superseded"
    if row.status != Status.ACCEPTED:
        return "draft" if row.status == Status.DRAFT else "discarded"
    if row.archived:
        return "archived"
    return "expired" if has_expired(row) else ""


def _head_of(row: Memory, rows: Mapping[UUID, Memory]) -> UUID | None:
    """What took its place in the end, if that holds."""
    for _ in range(_LONGEST_CHAIN):
        heir = rows.get(row.superseded_by_id) if row.superseded_by_id else None
        if heir is None:
            return None
        if not _gone_of(heir):
            return UUID(str(heir.pk))
        row = heir
    return None


def _mentions(access: Access, namespace: list[str], ids: Collection[UUID]) -> dict[UUID, int]:
    """How often each memory was noted, on whatever day."""
    if not ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_MENTIONS, [list(ids), access.vault_id, namespace, list(ids)])
        return dict(cursor.fetchall())


_MENTIONS = """
    SELECT memory_id, count(*) FROM memories_noteline line
    JOIN memories_dailynote note ON note.vault_id = line.vault_id AND note.id = line.note_id
    CROSS JOIN unnest(line.memory_ids) AS memory_id
    WHERE line.memory_ids && %s AND line.vault_id = %s AND note.namespace = %s::varchar[] AND memory_id = ANY(%s)
    GROUP BY memory_id
"""


def digest_of(access: Access, reading: Reading, lines: Sequence[CoreLine], rules: PromotionRules, way: str) -> bytes:
    """What two dreams share that would do the same: notes, document, state of the memories, rules, and who words it."""
    material = reading.material
    concerned = _with_successors({*material.noted, *(one for line in lines for one in line.memory_ids)}, material)
    told: dict[str, Any] = {
        "notes": [str(line_id) for line_id in reading.line_ids],
        "lines": [line.stored() for line in lines],
        "memories": sorted(
            (str(one.id), one.version, one.gone, str(one.successor))
            for one in (material.known[memory_id] for memory_id in concerned)
        ),
        "rules": repr(rules),
        "way": way,
    }
    return keyed_hash(access.keys.dedup, b"dream\0" + json.dumps(told, sort_keys=True).encode(), 32)


def _with_successors(ids: Iterable[UUID], material: Material) -> set[UUID]:
    there = {memory_id for memory_id in ids if memory_id in material.known}
    heirs = {material.known[memory_id].successor for memory_id in there}
    return there | {heir for heir in heirs if heir is not None}
