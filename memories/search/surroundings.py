"""What stands around one memory: its chain of supersessions, its links, and what is of the same people and things.

Two statements whatever there is: one finds the ids, one reads those the caller may see. Nothing here ranks, and a step
further is taken only when asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from banks.access import Access, KeyScope
from memories.models import Memory
from memories.rules.egograph import TieKind
from memories.rules.graph import ENTITIES_MAX, HUB_FROM
from memories.search.reading import CHAIN_MAX, with_relations
from memoryhub.lib.statements import fetch

#: Links in each direction, and memories of each entity, that are looked at.
LINKS_MAX, HOLDERS_MAX = 100, 20


@dataclass(frozen=True, slots=True)
class Tie:
    """How a memory hangs together with ``other``; outward when it stands in the relation to it, not the other way."""

    kind: TieKind
    other: Memory
    outward: bool = True
    #: The link to take away, where it is one that somebody made.
    link_id: UUID | None = None
    #: The memory it is tied to, where that is not the one in the middle.
    by_way_of: UUID | None = None
    #: What is shared: an entity's name.
    shared: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The chain it stands in, oldest first, and everything it is tied to, the closest kinds first."""

    chain: list[Memory]
    ties: list[Tie]


@dataclass(frozen=True, slots=True)
class _Found:
    kind: str
    other: UUID
    outward: bool
    link_id: UUID | None
    depth: int
    shared: str


def read_surroundings(access: Access, memory: Memory) -> Surroundings:
    """For a memory the caller has read; only what it may see (CON-25). Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    named = {
        "vault": access.vault_id,
        "id": memory.pk,
        "links": LINKS_MAX,
        "chain": CHAIN_MAX,
        "sources": list(memory.summarized_from),
        "entities": list(memory.entities[:ENTITIES_MAX]),
        "hub": HUB_FROM,
        "holders": HOLDERS_MAX,
    }
    found = [_Found(*row) for row in fetch(_AROUND, named)]
    seen = _seen(access, (one.other for one in found))
    return Surroundings(_chain(memory, found, seen), _ties(found, seen))


def step_further(access: Access, ties: Sequence[Tie], centre: UUID) -> list[Tie]:
    """The links of those that ``ties`` lead to, other than back to the ``centre``. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    near = list(dict.fromkeys(UUID(str(tie.other.pk)) for tie in ties))
    named = {"vault": access.vault_id, "near": near, "links": LINKS_MAX, "centre": centre}
    rows = fetch(_FURTHER, named) if near else []
    seen = _seen(access, (other for _, other, *_ in rows))
    return [
        Tie(TieKind(relation), seen[other], outward, by_way_of=parent)
        for parent, other, relation, outward in rows
        if other in seen
    ]


def _seen(access: Access, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    wanted = set(ids)
    return dict(with_relations(Memory.objects.visible_to(access)).in_bulk(list(wanted))) if wanted else {}


def _chain(memory: Memory, found: Sequence[_Found], seen: dict[UUID, Memory]) -> list[Memory]:
    def along(kind: str) -> list[Any]:
        mine = [(one.depth, seen[one.other]) for one in found if one.kind == kind and one.other in seen]
        return [row for _, row in sorted(mine, key=lambda each: (each[0], each[1].created_at))]

    return [*reversed(along("older")), memory, *along("newer")]


def _ties(found: Sequence[_Found], seen: dict[UUID, Memory]) -> list[Tie]:
    order = {kind.value: place for place, kind in enumerate(TieKind)}
    return [
        Tie(TieKind(one.kind), seen[one.other], one.outward, one.link_id, shared=one.shared)
        for one in sorted((one for one in found if one.kind in order), key=lambda one: order[one.kind])
        if one.other in seen
    ]


# An entity that a hundred memories have tells none of them apart, and is not followed.
_AROUND = """
WITH RECURSIVE older (id, depth) AS (
    SELECT id, 1 FROM memories_memory WHERE vault_id = %(vault)s AND superseded_by_id = %(id)s
    UNION ALL
    SELECT m.id, o.depth + 1 FROM older o
      JOIN memories_memory m ON m.vault_id = %(vault)s AND m.superseded_by_id = o.id WHERE o.depth < %(chain)s
), newer (id, depth) AS (
    SELECT superseded_by_id, 1 FROM memories_memory
     WHERE vault_id = %(vault)s AND id = %(id)s AND superseded_by_id IS NOT NULL
    UNION ALL
    SELECT m.superseded_by_id, n.depth + 1 FROM newer n
      JOIN memories_memory m ON m.vault_id = %(vault)s AND m.id = n.id
     WHERE m.superseded_by_id IS NOT NULL AND n.depth < %(chain)s
)
SELECT 'older', id, true, NULL::uuid, depth, '' FROM older
UNION ALL SELECT 'newer', id, false, NULL, depth, '' FROM newer
UNION ALL (SELECT relation, target_id, true, id, 0, '' FROM memories_link
            WHERE vault_id = %(vault)s AND source_id = %(id)s ORDER BY created_at LIMIT %(links)s)
UNION ALL (SELECT relation, source_id, false, id, 0, '' FROM memories_link
            WHERE vault_id = %(vault)s AND target_id = %(id)s ORDER BY created_at LIMIT %(links)s)
UNION ALL SELECT 'source', id, true, NULL, 0, '' FROM unnest(%(sources)s::uuid[]) AS summarised (id)
UNION ALL (SELECT 'pair', CASE WHEN older_id = %(id)s THEN newer_id ELSE older_id END, true, NULL, 0, ''
             FROM memories_duplicatepair
            WHERE vault_id = %(vault)s AND state = 'open' AND (older_id = %(id)s OR newer_id = %(id)s)
            LIMIT %(links)s)
UNION ALL SELECT 'entity', holder.id, true, NULL, 0, asked.entity
  FROM unnest(%(entities)s::varchar[]) AS asked (entity) CROSS JOIN LATERAL (
    SELECT newest.id, newest.place, count(*) OVER () AS holders FROM (
        SELECT id, row_number() OVER (ORDER BY created_at DESC, id DESC) AS place FROM memories_memory
         WHERE vault_id = %(vault)s AND entities @> ARRAY[asked.entity] AND entities <> '{}' AND id <> %(id)s
           AND archived_at IS NULL AND superseded_by_id IS NULL AND status <> 'discard'
         ORDER BY created_at DESC, id DESC LIMIT %(hub)s
    ) AS newest
  ) AS holder WHERE holder.holders < %(hub)s AND holder.place <= %(holders)s
"""

_FURTHER = """
SELECT near.id, link.other, link.relation, link.outward FROM unnest(%(near)s::uuid[]) AS near (id)
CROSS JOIN LATERAL (
    (SELECT target_id AS other, relation, true AS outward FROM memories_link
      WHERE vault_id = %(vault)s AND source_id = near.id ORDER BY created_at LIMIT %(links)s)
    UNION ALL
    (SELECT source_id, relation, false FROM memories_link
      WHERE vault_id = %(vault)s AND target_id = near.id ORDER BY created_at LIMIT %(links)s)
) AS link WHERE link.other <> %(centre)s
"""
