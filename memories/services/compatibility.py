"""Doors that speak another program's language: closed until the vault opens them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from banks.access import Access, KeyScope
from memories.models import Memory
from memories.models.effective import effective_settings
from memories.rules.bulk import BulkAction, BulkChange
from memories.rules.drafts import MemoryDraft
from memories.rules.filters import MemoryFilter
from memories.rules.mem0words import UpdateMemory
from memories.search.filtering import matching
from memories.services import editing, lifecycle
from memories.services.bulk import BulkReport, SelectionChanged, bulk_change
from memories.services.contention import despite_deadlocks
from memories.services.revising import locked_memory
from memories.services.writing import WriteResult, Written, write_batch
from memoryhub.lib.errors import HubError, NotFound

_COUNTED_AT_MOST = 5


def require_mem0(access: Access) -> None:
    """Raises NotFound, as for an address that is not there, while the vault's ``mem0_api`` is off."""
    if not effective_settings(access)["mem0_api"].value:
        raise NotFound("There is nothing at this address; an owner opens it with the setting mem0_api.")


def write_turns(access: Access, drafts: Sequence[MemoryDraft]) -> list[WriteResult]:
    """Write what was said in one go: all of it, or nothing where one turn cannot be written.

    Needs memories:write. Raises what writing that turn raised.
    """

    def all_or_nothing(results: Written) -> None:
        for result in results:
            if isinstance(result, HubError):
                raise result

    written = write_batch(access, drafts, all_or_nothing)
    return [result for result in written if not isinstance(result, HubError)]


@despite_deadlocks
def change_told(access: Access, memory_id: str | UUID, told: UpdateMemory) -> Memory:
    """Change a memory in mem0's words. Needs memories:write.

    Raises NotFound, also for an archived one, and what editing raises.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    with transaction.atomic():
        memory = _there(access, memory_id)
        return editing.update_memory(access, memory.pk, told.changes(memory.extra))


@despite_deadlocks
def delete_told(access: Access, memory_id: str | UUID) -> Memory:
    """Archive a memory. Needs memories:delete. Raises NotFound, also for one that is archived."""
    access.require(KeyScope.MEMORIES_DELETE)
    with transaction.atomic():
        return lifecycle.archive_memory(access, _there(access, memory_id).pk, archived=True)


def delete_all_told(access: Access, wanted: MemoryFilter) -> BulkReport:
    """Archive all that match, as one changeset that can be undone; what is protected stays. Needs memories:delete.

    Raises SelectionChanged when so much is written meanwhile that no count holds.
    """
    access.require(KeyScope.MEMORIES_DELETE)
    for _ in range(_COUNTED_AT_MOST - 1):
        try:
            return _archive_matching(access, wanted)
        except SelectionChanged:  # nobody has seen a number here; it only keeps the change from taking what came since
            continue
    return _archive_matching(access, wanted)


def _archive_matching(access: Access, wanted: MemoryFilter) -> BulkReport:
    count = matching(access, wanted).count()
    return bulk_change(access, BulkChange(action=BulkAction.ARCHIVE, query=wanted, expected_count=count))


def _there(access: Access, memory_id: str | UUID) -> Memory:
    memory = locked_memory(access, memory_id)
    if memory.archived_at is not None:
        raise NotFound
    return memory
