"""The other direction of supersession: which older memory each of these replaced."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from banks.access import Access
from memories.models import Memory


def predecessors(access: Access, ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """By id of the newer memory, the id of the latest one it supersedes; ids that replaced nothing are left out."""
    older = Memory.objects.filter(vault_id=access.vault_id, superseded_by_id__in=list(ids)).order_by("created_at", "id")
    return dict(older.values_list("superseded_by_id", "id"))
