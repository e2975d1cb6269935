"""Archive many memories as one: hidden from recall with a reason, brought back by undoing the changeset (PRN-14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from memories.models import Changeset, Link, Memory
from memories.rules.vocabulary import Relation
from memories.services.altering import Alteration, alter_memories
from memories.services.changesets import record_items
from memories.services.context import WriteContext
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id


def archive_many(
    context: WriteContext,
    memories: Sequence[Memory],
    changeset: Changeset,
    reason: str | Mapping[UUID, str],
    successors: Mapping[UUID, UUID] | None = None,
) -> int:
    """Archive locked memories with one statement per table; how many were not archived yet.

    ``reason`` is one for all or one for each. ``successors`` names for some the memory that stands for them from now
    on: the caller has checked that it lives and is trusted no less, and holds the vault's chains (SUP-07).
    """
    at, stands_for = now(), successors or {}
    living = [memory for memory in memories if memory.archived_at is None]
    alterations = []
    for memory in living:
        why = reason if isinstance(reason, str) else reason[memory.pk]
        values: dict[str, Any] = {"archived_at": at, "archived_reason": why or None}
        if memory.pk in stands_for:
            values["superseded_by_id"] = stands_for[memory.pk]
        alterations.append(Alteration(memory, values, why))
    moved = alter_memories(context.access, changeset.action, changeset, alterations)
    record_items(changeset, moved)
    link_successors(
        {memory.pk: stands_for[memory.pk] for memory in living if memory.pk in stands_for}, changeset.vault_id
    )
    return len(moved)


def link_successors(successors: Mapping[UUID, UUID], vault_id: UUID) -> None:
    """Say of each old memory what stands for it now; what is said already is not said twice."""
    links = [
        Link(id=new_id(), vault_id=vault_id, source_id=new, target_id=old, relation=Relation.SUPERSEDES.value)
        for old, new in successors.items()
    ]
    Link.objects.bulk_create(links, ignore_conflicts=True)
