"""Addressed reads: by id, history, links, chain. Nothing here ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Q

from banks.access import Access, KeyScope
from memories.models import Link, Memory, Revision
from memories.models.memory import MemoryQuerySet
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import parse_id

CHAIN_MAX = 200


def with_relations(rows: MemoryQuerySet) -> MemoryQuerySet:
    """The rows with what showing them needs: their bank, in the same query."""
    return rows.select_related("bank")


def get_memory(access: Access, memory_id: str | UUID) -> Memory:
    """One memory, whatever its state, with its bank. Needs memories:read. Raises NotFound (API-17)."""
    access.require(KeyScope.MEMORIES_READ)
    rows = with_relations(Memory.objects.visible_to(access))
    found = rows.filter(pk=parse_id(memory_id)).first()
    if found is None:
        raise NotFound("There is no such memory in this vault.")
    return found


def read_memories(access: Access, ids: Sequence[str | UUID]) -> tuple[list[Memory], list[str]]:
    """The memories in the order asked, and the ids that are not there (API-07). Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    parsed = {str(asked): _id_or_none(asked) for asked in ids}
    wanted = [memory_id for memory_id in parsed.values() if memory_id is not None]
    found = {row.pk: row for row in with_relations(Memory.objects.visible_to(access)).filter(pk__in=wanted)}
    present = [found[memory_id] for memory_id in parsed.values() if memory_id in found]
    return present, [asked for asked, memory_id in parsed.items() if memory_id not in found]


def _id_or_none(text: str | UUID) -> UUID | None:
    try:
        return parse_id(text)
    except NotFound:
        return None


def list_revisions(access: Access, memory_id: str | UUID) -> list[Revision]:
    """What the memory was before each change, newest first. Needs memories:read. Raises NotFound."""
    memory = get_memory(access, memory_id)
    return list(Revision.objects.filter(vault_id=access.vault_id, memory=memory).order_by("-version"))


def get_revision(access: Access, memory_id: str | UUID, version: int) -> Revision:
    """One kept version. Raises NotFound."""
    memory = get_memory(access, memory_id)
    found = Revision.objects.filter(vault_id=access.vault_id, memory=memory, version=version).first()
    if found is None:
        raise NotFound(f"Version {version} is not kept; the history lists those that are.")
    return found


def list_links(access: Access, memory_id: str | UUID) -> list[Link]:
    """The links from and to a memory, oldest first, both ends loaded; only to memories the caller may see."""
    memory = get_memory(access, memory_id)
    links = Link.objects.filter(Q(source=memory) | Q(target=memory), vault_id=access.vault_id)
    links = links.select_related("source__bank", "target__bank").order_by("created_at")
    seen = _visible_ids(access, (end for link in links for end in (link.source_id, link.target_id)))
    return [link for link in links if {link.source_id, link.target_id} <= seen]


def _visible_ids(access: Access, ids: Iterable[UUID]) -> set[UUID]:
    return set(Memory.objects.visible_to(access).filter(pk__in=set(ids)).values_list("pk", flat=True))


def read_chain(access: Access, memory_id: str | UUID) -> list[Memory]:
    """The supersession chain the memory stands in, oldest first, its live head last. Alone when it has none."""
    memory = get_memory(access, memory_id)
    older: list[Memory] = []
    newer, frontier = [memory], [memory.pk]
    visible = with_relations(Memory.objects.visible_to(access))
    while newer[-1].superseded_by_id is not None and len(newer) < CHAIN_MAX:
        successor = visible.filter(pk=newer[-1].superseded_by_id).first()
        if successor is None:
            break
        newer.append(successor)
    while frontier and len(older) < CHAIN_MAX:
        before = list(visible.filter(superseded_by_id__in=frontier).order_by("-created_at"))
        older += before
        frontier = [row.pk for row in before]
    return [*reversed(older), *newer]
