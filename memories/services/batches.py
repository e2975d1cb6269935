"""Work through memories in batches: opened outside the transaction, written only where nobody changed them since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from banks.access import Access
from memories.index.indexing import Indexable
from memories.models import Memory
from memoryhub.lib.crypto import DecryptionError, UnknownKey


def open_batch(batch: Sequence[Memory]) -> tuple[list[Indexable], list[UUID]]:
    """What can be read, and the ids of what cannot: one broken row must not stop the others."""
    readable, broken = [], []
    for memory in batch:
        try:
            readable.append(Indexable(memory, memory.content))
        except (DecryptionError, UnknownKey):
            broken.append(memory.pk)
    return readable, broken


def lock_unchanged(access: Access, versions: Mapping[UUID, int]) -> set[UUID]:
    """Locked memories that nobody edited or erased since they were read; the others are met again."""
    rows = Memory.objects.in_vault(access.vault_id).select_for_update(of=("self",), no_key=True).filter(pk__in=versions)
    found = rows.order_by("id").values_list("pk", "version")
    return {memory_id for memory_id, version in found if versions[memory_id] == version}
