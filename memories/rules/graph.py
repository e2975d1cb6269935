"""One step from the best of a search: along links, and to what is about the same people and things (SRC-04). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memories.rules.vocabulary import Relation

#: The leg starts from so many of the best, follows so many of their entities, and ends with so many memories.
SEEDS = 10
ENTITIES_MAX = 8
NODES_MAX = 60
#: An entity that so many memories have tells none of them apart, and is not followed.
HUB_FROM = 100
#: How much of a seed's score a step along a link keeps.
STEPS: Mapping[Relation, float] = {
    Relation.REFINES: 1.0,
    Relation.DERIVED_FROM: 0.9,
    Relation.SUPERSEDES: 0.8,
    Relation.SUPPORTS: 0.8,
    Relation.RELATED: 0.6,
    Relation.CONTRADICTS: 0.5,
}
#: The same for a step to another memory of the same entity.
SHARED_ENTITY = 0.4


@dataclass(frozen=True, slots=True)
class Step:
    """From a seed to a memory: along a link of some relation, or None by an entity both have."""

    seed: UUID
    other: UUID
    relation: str | None

    @property
    def keeps(self) -> float:
        """The share of the seed's score that arrives."""
        return SHARED_ENTITY if self.relation is None else STEPS[Relation(self.relation)]


def shared_entities(holders: Iterable[tuple[UUID, Sequence[str]]], seeds: Mapping[UUID, float]) -> dict[str, UUID]:
    """The entities to follow, at most eight: those of the best seeds first, each with the best seed that has it."""
    best_first = sorted(holders, key=lambda holder: (-seeds[holder[0]], holder[0]))
    followed: dict[str, UUID] = {}
    for seed, entities in best_first:
        for entity in entities:
            if len(followed) < ENTITIES_MAX:
                followed.setdefault(entity, seed)
    return followed


def reached(steps: Iterable[Step], seeds: Mapping[UUID, float]) -> dict[UUID, float]:
    """Memory → the best that arrives there by one step, the best sixty. A seed is not raised by its own entities."""
    found: dict[UUID, float] = {}
    for step in steps:
        if step.other != step.seed and (step.relation is not None or step.other not in seeds):
            found[step.other] = max(seeds[step.seed] * step.keeps, found.get(step.other, 0.0))
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return dict(best[:NODES_MAX])
