"""Change many memories as one: a revision, an item and an audit row each, and one UPDATE for all of them.

What it writes is what ``change_memory`` writes, without a round trip per memory. Content is not changed this way: it
has to be indexed anew.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Field

from banks.access import Access
from banks.services.audit import Audited, audit_entry
from memories.models import Changeset, Memory, Revision
from memories.rules.happenings import name_of_change
from memories.services.changesets import Moved
from memories.services.revising import DuplicateContent, differs, public_name, shared_bank, snapshot, translated
from memoryhub.lib.bulk import insert_rows, new_row
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import Sealed, SealedField


@dataclass(frozen=True, slots=True)
class Alteration:
    """What happens to one locked memory: fields by attribute name (``bank_id``), never ``content``."""

    memory: Memory
    values: Mapping[str, Any]
    reason: str = ""


def alter_memories(access: Access, action: str, changeset: Changeset, alterations: Iterable[Alteration]) -> list[Moved]:
    """Write the alterations that change something, each as a new version; the versions around each, to be recorded.

    Raises DuplicateContent when one would make a second live memory with the same content: roll back to a savepoint.
    """
    found = [
        (one, {name: value for name, value in one.values.items() if differs(one.memory, name, value)})
        for one in alterations
    ]
    differing = [(one, values) for one, values in found if values]
    if not differing:
        return []
    changed = [one for one, _ in differing]
    at, columns = now(), sorted({name for one in changed for name in one.values})
    revisions = [_revision(access, action, changeset, one, (values, at)) for one, values in differing]
    try:
        with connection.cursor() as cursor:
            cursor.execute(_statement(tuple(columns)), [at, json.dumps([_row(one, columns) for one in changed])])
    except IntegrityError as error:
        raise translated(error) from error
    moved = [Moved(one.memory.pk, one.memory.version, one.memory.version + 1) for one in changed]
    insert_rows(revisions)
    insert_rows([audit_entry(access, _done(action, changeset, one, values)) for one, values in differing])
    for one in changed:
        one.memory.version += 1
        one.memory.updated_at = at
        for name, value in one.values.items():
            setattr(one.memory, name, value)
    return moved


def alter_where_possible(
    access: Access, action: str, changeset: Changeset, alterations: Sequence[Alteration]
) -> tuple[list[Moved], list[UUID]]:
    """The same, leaving out what would make a second live memory with the same content: what moved, what was left out.

    All in one statement; where a place is taken, in halves, until what cannot be altered stands alone.
    """
    if not alterations:
        return [], []
    try:
        with transaction.atomic():
            return alter_memories(access, action, changeset, alterations), []
    except DuplicateContent:
        if len(alterations) == 1:
            return [], [alterations[0].memory.pk]
    half = len(alterations) // 2
    moved, taken = alter_where_possible(access, action, changeset, alterations[:half])
    more, too = alter_where_possible(access, action, changeset, alterations[half:])
    return moved + more, taken + too


def _done(action: str, changeset: Changeset, one: Alteration, values: Mapping[str, Any]) -> Audited:
    """What the audit says of it and of the ``values`` that change; asked before the row takes them."""
    memory = one.memory
    before = shared_bank(memory)
    after = one.values.get("bank_id", before) if before else None
    return Audited(
        action,
        "memory",
        memory.pk,
        memory.version,
        memory.version + 1,
        changeset.pk,
        event=name_of_change(action, values),
        bank_id=after,
        left_bank_id=before if before != after else None,
    )


def _revision(
    access: Access, action: str, changeset: Changeset, one: Alteration, change: tuple[Mapping[str, Any], dt.datetime]
) -> Revision:
    (values, at), memory = change, one.memory
    return new_row(
        Revision,
        id=new_id(),
        vault_id=memory.vault_id,
        memory_id=memory.pk,
        version=memory.version,
        before=snapshot(memory),
        changed=sorted(public_name(name) for name in values),
        action=action,
        reason=one.reason or None,
        actor_kind=access.actor.kind,
        actor_id=access.actor.id,
        changeset_id=changeset.pk,
        created_at=at,
    )


def _row(one: Alteration, columns: Sequence[str]) -> dict[str, Any]:
    """Every column that any of them changes, as JSON; what this one leaves as it is has its present value."""
    memory, row = one.memory, {"id": str(one.memory.pk)}
    for name in columns:
        value, field = one.values.get(name, memory.__dict__[name]), _field(name)
        if isinstance(field, SealedField):
            value = field.seal(value, memory)
        row[name] = _plain(value)
    return row


def _plain(value: Any) -> Any:
    if isinstance(value, Sealed):
        return f"\\x{value.data.hex()}"
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def _field(name: str) -> Field[Any, Any]:
    return Memory._meta.get_field(name)  # type: ignore[return-value]


@cache
def _statement(columns: tuple[str, ...]) -> str:
    fields = {name: _field(name) for name in columns}
    typed = ", ".join(f"{field.column} {field.db_type(connection)}" for field in fields.values())
    assigned = ", ".join(f"{field.column} = new.{field.column}" for field in fields.values())
    return (
        f"UPDATE memories_memory m SET updated_at = %s, version = m.version + 1, {assigned} "
        f"FROM json_to_recordset(%s) AS new(id uuid, {typed}) WHERE m.id = new.id"
    )
