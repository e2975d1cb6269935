"""Erase for good: the only destructive verb. A memory goes with everything that was made of it; a receipt stays."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from banks.access import Access, KeyScope
from banks.services.audit import Audited, audit_entry
from memories.events import EventType
from memories.models import ErasureReceipt, Link, Memory, Revision
from memories.rules.vocabulary import ErasureKind
from memories.services.accesses import forget_accesses
from memories.services.bulk import forget_bulk
from memories.services.contention import despite_deadlocks, lock_chains
from memories.services.deliveries import forget_deliveries
from memories.services.forgetting import (
    close_chains,
    forget_answers,
    forget_calls,
    forget_items,
    forget_jobs,
    forget_links,
    forget_pairs,
    forget_reasons,
    forget_revisions,
    forget_vectors,
    forget_words,
)
from memories.services.imports import forget_imports
from memories.services.notes import forget_notes
from memories.services.plans import forget_plans
from memories.services.receipts import ERASED, count_removed, open_receipt, sign_receipt
from memories.services.revising import locked_memory, shared_bank
from memories.services.unsummarizing import forget_summaries, returning_sources, summaries_of
from memoryhub.lib.bulk import insert_rows

ERASED_EVENT = EventType.MEMORY_ERASED.value
type Forget = Callable[[Access, Collection[UUID]], int]

#: Everything that may hold a trace of a memory, by the name the receipt counts it under, in the order in which it goes:
#: the sources of summaries come back first, reasons are found through the changesets' items, chains close before the
#: links go.
FORGETTING: dict[str, Forget] = {
    "cluster_summaries": forget_summaries,
    "bulk_changes": forget_bulk,
    "cleanup_plans": forget_plans,
    "imports": forget_imports,
    "notes": forget_notes,
    "embeddings": forget_vectors,
    "keyword_index": forget_words,
    "chains": close_chains,
    "reasons": forget_reasons,
    "changeset_items": forget_items,
    "duplicate_pairs": forget_pairs,
    "links": forget_links,
    "revisions": forget_revisions,
    "accesses": forget_accesses,
    "deliveries": forget_deliveries,
    "kept_answers": forget_answers,
    "model_calls": forget_calls,
    "jobs": forget_jobs,
}


@dataclass(frozen=True, slots=True)
class Doomed:
    """What erasing a memory would take along (ids and counts), and what would come back because of it."""

    memory: Memory
    summaries: list[UUID]
    returning: list[UUID]
    versions: int
    links: int


def preview_erasure(access: Access, memory_id: str | UUID) -> Doomed:
    """What erasing a memory would do; changes nothing. Needs memories:erase. Raises NotFound."""
    access.require(KeyScope.MEMORIES_ERASE)
    with transaction.atomic():
        memory = locked_memory(access, memory_id)
        doomed = _with_summaries(access, [memory.pk])
        returning = [row.pk for row in returning_sources(access, doomed)]
    ends = Q(source__in=doomed) | Q(target__in=doomed)
    return Doomed(
        memory=memory,
        summaries=sorted(doomed - {memory.pk}),
        returning=returning,
        versions=Revision.objects.filter(vault_id=access.vault_id, memory__in=doomed).count(),
        links=Link.objects.filter(ends, vault_id=access.vault_id).count(),
    )


@despite_deadlocks
def erase_memory(access: Access, memory_id: str | UUID, expected_version: int | None = None) -> ErasureReceipt:
    """Remove a memory for good, with all that was made of it. Needs memories:erase.

    The conversation it came from stays until it is erased itself. Raises NotFound, StaleVersion.
    """
    access.require(KeyScope.MEMORIES_ERASE)
    with transaction.atomic():
        lock_chains(access.vault_id)
        memory = locked_memory(access, memory_id, expected_version)
        receipt = open_receipt(access, ErasureKind.MEMORY, UUID(str(memory.pk)))
        erase_rows(access, receipt, [UUID(str(memory.pk))])
        return sign_receipt(access, receipt)


def erase_rows(access: Access, receipt: ErasureReceipt, memory_ids: Collection[UUID]) -> int:
    """Erase memories in the running transaction, which holds the vault's chains, and count them on the receipt.

    Summaries made of one of them go too. How many there were. The caller saves the receipt.
    """
    rows = Memory.objects.in_vault(access.vault_id).select_for_update()
    doomed = _with_summaries(access, memory_ids)
    gone = list(rows.filter(pk__in=doomed).order_by("pk").only("pk", "version", "bank_id", "scope"))
    versions = {row.pk: row.version for row in gone}
    banks = {row.pk: shared_bank(row) for row in gone}
    if not versions:
        return 0
    removed = {thing: forget(access, list(versions)) for thing, forget in FORGETTING.items()}
    Memory.objects.filter(pk__in=list(versions)).delete()
    insert_rows(
        [
            audit_entry(access, Audited(ERASED, "memory", pk, version, None, receipt.pk, ERASED_EVENT, banks[pk]))
            for pk, version in versions.items()
        ]
    )
    count_removed(receipt, {"memories": len(versions), **removed})
    return len(versions)


def _with_summaries(access: Access, memory_ids: Collection[UUID]) -> set[UUID]:
    """The memories, the summaries made of them, the summaries made of those …"""
    doomed, fresh = set(memory_ids), set(memory_ids)
    while fresh := summaries_of(access, fresh) - doomed:
        doomed |= fresh
    return doomed
