"""Archive, restore, review, supersede: what happens to a memory after it was written."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from banks.access import Access, KeyScope
from memories.models import Link, Memory
from memories.rules.status import check_move
from memories.rules.vocabulary import Relation, Status
from memories.services.contention import despite_deadlocks, lock_chains
from memories.services.context import WriteContext
from memories.services.revising import Change, change_memory, locked_memory
from memories.services.superseding import check_successor, fulfil_promises, retire
from memoryhub.lib.clock import now


@despite_deadlocks
def archive_memory(
    access: Access,
    memory_id: str | UUID,
    archived: bool = True,
    reason: str = "",
    expected_version: int | None = None,
) -> Memory:
    """Hide a memory from recall, or bring it back (API-09). Needs memories:delete to hide, memories:write to restore.

    Restoring a superseded memory takes it out of its chain. Repeating is fine. Raises NotFound, StaleVersion,
    DuplicateContent when an equal memory took its place.
    """
    access.require(KeyScope.MEMORIES_DELETE if archived else KeyScope.MEMORIES_WRITE)
    with transaction.atomic():
        memory = locked_memory(access, memory_id, expected_version)
        if archived == memory.archived:
            return memory
        if archived:
            values = {"archived_at": now(), "archived_reason": reason or None}
            change_memory(WriteContext.of(access), memory, Change("archive_memory", values, reason))
            return memory
        values = {"archived_at": None, "archived_reason": None, "superseded_by_id": None}
        Link.objects.filter(target=memory, relation=Relation.SUPERSEDES.value).delete()
        change_memory(WriteContext.of(access), memory, Change("restore_memory", values, reason))
    return memory


@despite_deadlocks
def change_status(
    access: Access, memory_id: str | UUID, status: Status, reason: str = "", expected_version: int | None = None
) -> Memory:
    """Accept or discard in review (STA-05, STA-07). Needs memories:approve. Raises NotFound, StatusMoveRefused."""
    access.require(KeyScope.MEMORIES_APPROVE)
    with transaction.atomic():
        if status == Status.ACCEPTED:
            lock_chains(access.vault_id)
        memory = locked_memory(access, memory_id, expected_version)
        check_move(Status(memory.status), status)
        context = WriteContext.of(access)
        change_memory(context, memory, Change("change_status", {"status": status.value}, reason))
        if status == Status.ACCEPTED:
            fulfil_promises(context, memory)
    return memory


@despite_deadlocks
def supersede_memory(access: Access, old_id: str | UUID, new_id: str | UUID, reason: str = "") -> tuple[Memory, Memory]:
    """Let an existing memory replace another; (old, new). Needs memories:write.

    Raises NotFound, AlreadySuperseded, TrustTooLow, SupersedesItself.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    with transaction.atomic():
        lock_chains(access.vault_id)
        # Always locked in the same order, so that two supersessions cannot wait for each other.
        for memory_id in sorted({str(old_id), str(new_id)}):
            locked_memory(access, memory_id)
        old = check_successor(access, old_id, lock=True)
        new = locked_memory(access, new_id)
        retire(WriteContext.of(access), old, new, reason)
    return old, new
