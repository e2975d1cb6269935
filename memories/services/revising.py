"""One way to change a memory: lock, compare, keep what was before, write, audit (MIG-13, MOD-47)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from banks.access import Access
from banks.services.audit import Audited, record_audit
from memories.events import EventType
from memories.index.indexing import Indexable, units_of
from memories.models import Memory, Revision
from memories.rules.happenings import name_of_change
from memories.rules.vocabulary import Scope
from memories.services.context import WriteContext, extend_documents
from memories.services.indexing import index_memories
from memories.services.meeting import is_live, says_the_same
from memories.services.preparing import identity_of
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.lib.errors import Conflict, NotFound, StaleVersion
from memoryhub.lib.ids import parse_id
from memoryhub.lib.sealing import opened

#: What a memory says: an upsert may change it and bringing back a version restores it.
SAID = (
    "content",
    "type",
    "bank_id",
    "category",
    "role",
    "importance",
    "confidence",
    "entities",
    "tags",
    "fact_key",
    "extra",
    "is_protected",
    "user_id",
    "session_id",
    "task_id",
    "expires_at",
    "event_at",
)
#: What a revision keeps. Ids, provenance and counters never change or are not worth a version.
REVISED = (*SAID, "status", "trust", "archived_at", "archived_reason", "superseded_by_id")

_MOMENTS = {"expires_at", "event_at", "archived_at"}


class DuplicateContent(Conflict):
    """Another live memory of the same user and type already has this content; edit or archive that one instead."""

    code = "duplicate_content"


class VersionUnreadable(NotFound):
    """That version's content cannot be opened any more; restore another one."""

    code = "version_unreadable"


class ChangedSince(Conflict):
    """A memory was changed after what is to be undone; look at its history and change it by hand."""

    code = "changed_since"


@dataclass(frozen=True, slots=True)
class Change:
    """What is done to a memory, and why."""

    action: str
    values: Mapping[str, Any]
    reason: str = ""
    changeset_id: UUID | None = None


def locked_memory(access: Access, memory_id: str | UUID, expected_version: int | None = None) -> Memory:
    """The memory, locked until the transaction ends. Raises NotFound, StaleVersion with the current version."""
    rows = Memory.objects.visible_to(access).select_for_update(of=("self",), no_key=True)
    found = rows.filter(pk=parse_id(memory_id)).first()
    if found is None:
        raise NotFound("There is no such memory in this vault.")
    if expected_version is not None and found.version != expected_version:
        raise StaleVersion(
            f"The memory is at version {found.version}, not {expected_version or 'what If-Match names'};"
            " read it again and merge.",
            extra={"current_version": found.version},
        )
    return found


def change_memory(
    context: WriteContext, memory: Memory, change: Change, reindex: list[Indexable] | None = None
) -> list[str]:
    """Apply ``change`` to a locked memory; the names of what really changed, empty when nothing did.

    New content is indexed at once, or left in ``reindex`` for a caller that changes many and indexes them together.
    Raises DuplicateContent when it would make a second live memory with the same content.
    """
    before, stood = snapshot(memory), _standing(memory)
    differing = [name for name, value in change.values.items() if differs(memory, name, value)]
    if not differing:
        return []
    for name in differing:
        setattr(memory, name, change.values[name])
    version_before = memory.version
    memory.version += 1
    memory.updated_at = now()
    _keep(context.access, memory, Kept(version_before, before, differing), change)
    saved = {*differing, "version", "updated_at"}
    if "content" in differing and memory.content_hash is not None:
        memory.content_hash = context.content_hash(memory.content)
        saved.add("content_hash")
    if _standing(memory) not in {None, stood} and says_the_same(context.access, memory):
        raise DuplicateContent
    try:
        memory.save(update_fields=[_field_name(name) for name in saved])
    except IntegrityError as error:
        raise translated(error) from error
    if "content" in differing:
        more = len(units_of(memory.content)) - 1
        more_from = extend_documents(context.access.vault_id, more) if more else None
        indexable = Indexable(memory, memory.content, more_from)
        if reindex is None:
            index_memories(context, [indexable], replace=True)
        else:
            reindex.append(indexable)
    return differing


def _standing(memory: Memory) -> tuple[Any, ...] | None:
    """By what it competes with other live memories; None when it is none."""
    return identity_of(memory) if is_live(memory) else None


@dataclass(frozen=True, slots=True)
class Kept:
    """A version as it was."""

    version: int
    values: dict[str, Any]
    changed: list[str]


def _keep(access: Access, memory: Memory, kept: Kept, change: Change) -> None:
    Revision.objects.create(
        vault_id=access.vault_id,
        memory=memory,
        version=kept.version,
        before=kept.values,
        changed=sorted(public_name(name) for name in kept.changed),
        action=change.action,
        reason=change.reason or None,
        actor_kind=access.actor.kind,
        actor_id=access.actor.id,
        changeset_id=change.changeset_id,
    )
    done = Audited(
        change.action,
        "memory",
        memory.pk,
        kept.version,
        memory.version,
        change.changeset_id,
        event=name_of_change(change.action, {name: getattr(memory, name) for name in kept.changed}),
        bank_id=shared_bank(memory),
        left_bank_id=UUID(kept.values["bank_id"]) if "bank_id" in kept.changed and shared_bank(memory) else None,
    )
    record_audit(access, done)


def added(action: str, memory: Memory, changeset_id: UUID | None = None) -> Audited:
    """What the audit says of a memory that is new."""
    event, bank_id = EventType.MEMORY_ADDED, shared_bank(memory)
    return Audited(action, "memory", memory.pk, None, memory.version, changeset_id, event=event, bank_id=bank_id)


def shared_bank(memory: Memory) -> UUID | None:
    """The bank of a memory that all agents share: what still tells who may hear of it when it is gone."""
    return UUID(str(memory.bank_id)) if memory.scope == Scope.GLOBAL else None


def snapshot(memory: Memory) -> dict[str, Any]:
    """The values of a memory as JSON can hold them; None for content that does not open any more."""
    return {name: _plain(opened(memory, name)) for name in REVISED}


def thawed(name: str, kept: Any) -> Any:
    """A value of a snapshot as the model's field holds it."""
    if kept is None:
        return None
    if name in _MOMENTS:
        return dt.datetime.fromisoformat(kept)
    return UUID(kept) if name in {"bank_id", "superseded_by_id"} else kept


def differs(memory: Memory, name: str, value: Any) -> bool:
    """Whether a field is not ``value``; what does not open any more is never equal, so writing it anew mends it."""
    try:
        return bool(getattr(memory, name) != value)
    except (DecryptionError, UnknownKey):
        return True


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def public_name(name: str) -> str:
    """A model field as people know it."""
    return {"bank_id": "bank", "superseded_by_id": "superseded_by", "archived_at": "archived"}.get(name, name)


def _field_name(name: str) -> str:
    return {"bank_id": "bank", "superseded_by_id": "superseded_by"}.get(name, name)


def broken_constraint(error: IntegrityError) -> str:
    """The name of the constraint the database refused, empty when it names none."""
    return getattr(getattr(error.__cause__, "diag", None), "constraint_name", None) or ""


def translated(error: IntegrityError) -> Exception:
    """The refusal as an error a caller understands, or the error itself."""
    return DuplicateContent() if broken_constraint(error) == "memory_live_in_bank" else error
