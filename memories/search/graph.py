"""The graph leg: what is linked to the best of the other legs, or of the same people and things, one step away.

No further step, and nothing is concluded from the path (SRC-04, CON-22).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from banks.access import Access
from memories.rules.graph import HUB_FROM, SEEDS, Step, reached, shared_entities
from memories.search.candidates import Allowed, run

__all__ = ["SEEDS", "graph_leg"]


def graph_leg(access: Access, rows: Allowed, seeds: Mapping[UUID, float]) -> dict[UUID, float]:
    """Memory → the best seed's score times the step's weight, at most 60, for what the filters allow (SRC-18)."""
    if not seeds:
        return {}
    named = {"vault": access.vault_id, "seeds": list(seeds)}
    links = [Step(seed, other, relation) for seed, other, relation in run(_LINKED, rows, named)]
    entities = shared_entities(run(_ENTITIES, rows, named), seeds)
    return reached([*links, *_sharing(access, rows, entities)], seeds)


def _sharing(access: Access, rows: Allowed, entities: Mapping[str, UUID]) -> Sequence[Step]:
    """One entity, one subquery: the planner sees how frequent each is, and walks the newest memories for a common one
    instead of collecting all that have it. Counting stops where a hub begins."""
    if not entities:
        return []
    names = {f"entity_{place}": name for place, name in enumerate(entities)}
    holders = " UNION ALL ".join(_HOLDERS.replace("<place>", str(place)) for place in range(len(names)))
    named = {"vault": access.vault_id, "hub": HUB_FROM, **names}
    found = run(_SHARING.replace("<holders>", holders), rows, named, prepare=False)
    seeds = list(entities.values())
    return [Step(seeds[place], other, None) for place, other in found]


_LINKED = """
    SELECT step.seed, step.other, step.relation FROM (
        SELECT seed.id AS seed, link.other, link.relation FROM unnest(%(seeds)s::uuid[]) AS seed (id)
        CROSS JOIN LATERAL (
            (SELECT target_id AS other, relation FROM memories_link
             WHERE vault_id = %(vault)s AND source_id = seed.id LIMIT 100)
            UNION ALL
            (SELECT source_id, relation FROM memories_link
             WHERE vault_id = %(vault)s AND target_id = seed.id LIMIT 100)
        ) AS link
    ) AS step WHERE step.other IN (<allowed>)
"""

_ENTITIES = """
    SELECT id, entities FROM memories_memory
    WHERE vault_id = %(vault)s AND id = ANY(%(seeds)s) AND entities <> '{}' AND id IN (<allowed>)
"""

_HOLDERS = """
    (SELECT <place> AS place, id, count(*) OVER () AS holders FROM (
        SELECT id FROM memories_memory
        WHERE vault_id = %(vault)s AND entities @> ARRAY[%(entity_<place>)s]::varchar[] AND entities <> '{}'
        ORDER BY created_at DESC, id DESC LIMIT %(hub)s
    ) AS newest)
"""

_SHARING = """
    SELECT holder.place, holder.id FROM (<holders>) AS holder
    WHERE holder.holders < %(hub)s AND holder.id IN (<allowed>)
"""
