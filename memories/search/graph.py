"""The graph leg: what is linked to the best of the other legs, one step away (SRC-04, CON-22)."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from banks.access import Access
from memories.rules.vocabulary import Relation
from memories.search.candidates import Allowed, run

SEEDS = 10
NODES_MAX = 60
#: How much of a seed's score a step along a link keeps.
STEPS: Mapping[Relation, float] = {
    Relation.REFINES: 1.0,
    Relation.DERIVED_FROM: 0.9,
    Relation.SUPERSEDES: 0.8,
    Relation.SUPPORTS: 0.8,
    Relation.RELATED: 0.6,
    Relation.CONTRADICTS: 0.5,
}


def graph_leg(access: Access, rows: Allowed, seeds: Mapping[UUID, float]) -> dict[UUID, float]:
    """Memory → the best seed's score times the link's weight, at most 60, for what the filters allow (SRC-18)."""
    if not seeds:
        return {}
    reached: dict[UUID, float] = {}
    named = {"vault": access.vault_id, "seeds": list(seeds), "nodes": NODES_MAX * len(STEPS)}
    for seed, memory_id, relation in run(_LINKED, rows, named):
        score = seeds[seed] * STEPS[Relation(relation)]
        reached[memory_id] = max(score, reached.get(memory_id, 0.0))
    best = sorted(reached.items(), key=lambda item: (-item[1], item[0]))
    return dict(best[:NODES_MAX])


_LINKED = """
    SELECT step.seed, step.other, step.relation FROM (
        SELECT source_id AS seed, target_id AS other, relation FROM memories_link
        WHERE vault_id = %(vault)s AND source_id = ANY(%(seeds)s)
        UNION ALL
        SELECT target_id, source_id, relation FROM memories_link
        WHERE vault_id = %(vault)s AND target_id = ANY(%(seeds)s)
    ) AS step WHERE step.other IN (<allowed>) ORDER BY step.other LIMIT %(nodes)s
"""
