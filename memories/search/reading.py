"""Addressed reads: by id, history, links, chain. Nothing here ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model, Q

from banks.access import Access, KeyScope
from banks.models import Bank
from memories.models import ChangesetItem, Link, Memory, Revision
from memories.models.memory import MemoryQuerySet
from memories.search.relatives import visible_ids
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import parse_id
from memoryhub.lib.statements import fetch, id_array

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


def given(access: Access, memory: Memory | str | UUID) -> Memory:
    """The memory a caller has read already, or reads now. Raises NotFound."""
    return memory if isinstance(memory, Memory) else get_memory(access, memory)


def read_memories(access: Access, ids: Sequence[str | UUID]) -> tuple[list[Memory], list[str]]:
    """The memories in the order asked, each once, and the ids that are not there (API-07). Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    parsed = {str(asked): _id_or_none(asked) for asked in ids}
    wanted = dict.fromkeys(memory_id for memory_id in parsed.values() if memory_id is not None)
    found = with_relations(Memory.objects.visible_to(access)).in_bulk(list(wanted))
    present = [found[memory_id] for memory_id in wanted if memory_id in found]
    return present, [asked for asked, memory_id in parsed.items() if memory_id not in found]


def memories_by_id(access: Access, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """The vault's memories with these ids and their banks, for callers that know they may be seen.

    Plain SQL because every search ends here: the query builder takes longer than the database.
    """
    rows = fetch(_BY_ID, [access.vault_id, id_array(ids)], binary=False)
    width = len(Memory._meta.concrete_fields)
    memories, banks = {}, {}
    for row in rows:
        memory = _from_row(Memory, row[:width])
        if memory.bank_id not in banks:
            banks[memory.bank_id] = _from_row(Bank, row[width:-1])
        memory.bank, memory.may_replace = banks[memory.bank_id], row[-1]
        memories[memory.pk] = memory
    return memories


def _from_row[M: Model](model: type[M], row: Sequence[Any]) -> M:
    """What the query builder makes of a row."""
    names, converters = _fields(model)
    values = list(row)
    for place, convert in converters:
        values[place] = convert(values[place], None, connection)
    return model.from_db(DEFAULT_DB_ALIAS, names, values)


@cache
def _fields(model: type[Model]) -> tuple[list[str], list[tuple[int, Callable[..., Any]]]]:
    """The names of a model's fields, and which of their values have to be converted, how."""
    fields = model._meta.concrete_fields
    converters = [(n, field.from_db_value) for n, field in enumerate(fields) if hasattr(field, "from_db_value")]
    return [field.attname for field in fields], converters


def _columns(model: type[Model], alias: str) -> str:
    return ", ".join(f'{alias}."{field.column}"' for field in model._meta.concrete_fields)


_BY_ID = f"""
SELECT {_columns(Memory, "m")}, {_columns(Bank, "b")},
       EXISTS (SELECT FROM memories_memory o WHERE o.vault_id = m.vault_id AND o.superseded_by_id = m.id)
  FROM memories_memory m JOIN banks_bank b ON b.id = m.bank_id
 WHERE m.vault_id = %s AND m.id = ANY(%s::uuid[])
"""


def _id_or_none(text: str | UUID) -> UUID | None:
    try:
        return parse_id(text)
    except NotFound:
        return None


def list_revisions(access: Access, memory_id: Memory | str | UUID) -> list[Revision]:
    """What the memory was before each change, newest first. Needs memories:read. Raises NotFound.

    Left out is what it was in a bank that the caller does not reach.
    """
    memory = given(access, memory_id)
    kept = Revision.objects.filter(vault_id=access.vault_id, memory=memory).order_by("-version")
    return _as_seen(access, [revision for revision in kept if reaches_version(access, revision)])


def get_revision(access: Access, memory_id: str | UUID, version: int) -> Revision:
    """One kept version. Raises NotFound."""
    memory = get_memory(access, memory_id)
    found = Revision.objects.filter(vault_id=access.vault_id, memory=memory, version=version).first()
    if found is None or not reaches_version(access, found):
        raise NotFound(f"Version {version} is not kept; the history lists those that are.")
    return _as_seen(access, [found])[0]


def reaches_version(access: Access, revision: Revision) -> bool:
    """Whether the memory lay in a bank of the caller then; not where that cannot be read any more."""
    if access.bank_ids is None:
        return True
    try:
        return access.may_use_bank(UUID(revision.before["bank_id"]))
    except (DecryptionError, UnknownKey):
        return False


def versions_around(access: Access, items: Iterable[ChangesetItem]) -> dict[tuple[UUID, int], Revision]:
    """(Memory, version) → what the memory was then, for the versions before and after each change, where kept.

    For items that were looked up; left out is what a memory was in a bank that the caller does not reach.
    """
    wanted = {(item.memory_id, version) for item in items for version in (item.version_before, item.version_after)}
    rows = Revision.objects.filter(
        vault_id=access.vault_id,
        memory_id__in={memory_id for memory_id, _ in wanted},
        version__in={version for _, version in wanted},
    )
    found = {(row.memory_id, row.version): row for row in rows if (row.memory_id, row.version) in wanted}
    return {key: row for key, row in found.items() if reaches_version(access, row)}


def _as_seen(access: Access, revisions: list[Revision]) -> list[Revision]:
    """Without the names of successors that the caller may not see; who sees the whole vault needs no asking."""
    if access.bank_ids is None and access.agent is None:
        return revisions
    named = {revision.pk: successor for revision in revisions if (successor := _successor_in(revision))}
    seen = visible_ids(access, named.values())
    for revision in revisions:
        if named.get(revision.pk) not in {None, *seen}:
            revision.before = {**revision.before, "superseded_by_id": None}
    return revisions


def _successor_in(revision: Revision) -> UUID | None:
    try:
        successor = revision.before.get("superseded_by_id")
    except (DecryptionError, UnknownKey):
        return None
    return UUID(successor) if successor else None


def list_links(access: Access, memory_id: str | UUID) -> list[Link]:
    """The links from and to a memory, oldest first, both ends loaded; only to memories the caller may see."""
    memory = get_memory(access, memory_id)
    links = Link.objects.filter(Q(source=memory) | Q(target=memory), vault_id=access.vault_id)
    links = links.select_related("source__bank", "target__bank").order_by("created_at")
    seen = visible_ids(access, (end for link in links for end in (link.source_id, link.target_id)))
    return [link for link in links if {link.source_id, link.target_id} <= seen]


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
