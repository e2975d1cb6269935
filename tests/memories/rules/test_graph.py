"""One step along links and shared entities: golden scores, and limits (SRC-04, CON-22)."""

from __future__ import annotations

from uuid import UUID

import pytest

from memories.rules.graph import ENTITIES_MAX, NODES_MAX, STEPS, Step, reached, shared_entities
from memories.rules.vocabulary import Relation

A, B, C, D, E = (UUID(int=number) for number in range(1, 6))


def test_golden_graph_leg():
    """SRC-04: the best seed's score times the step's weight, best first, equal ones by id."""
    steps = [Step(A, C, "refines"), Step(B, C, "derived_from"), Step(B, D, "contradicts"), Step(A, E, None)]
    found = reached(steps, {A: 0.5, B: 1.0})
    assert list(found.items()) == [(C, 0.9), (D, 0.5), (E, 0.2)]


def test_every_relation_keeps_a_share():
    assert set(STEPS) == set(Relation)
    assert (STEPS[Relation.REFINES], STEPS[Relation.DERIVED_FROM], STEPS[Relation.CONTRADICTS]) == (1.0, 0.9, 0.5)
    assert all(0 < keeps <= 1 for keeps in STEPS.values())


def test_seeds_raise_each_other_by_links_only():
    """Two of the best of one entity say nothing new about each other; a link between them does."""
    seeds = {A: 1.0, B: 0.5}
    assert reached([Step(A, B, None), Step(A, A, "related")], seeds) == {}
    assert reached([Step(A, B, "supports")], seeds) == {B: 0.8}


def test_at_most_sixty_nodes():
    """CON-22: a hub of links stays bounded, the best stay."""
    many = [Step(A, UUID(int=number), "related") for number in range(100, 300)]
    found = reached([*many, Step(A, E, "refines")], {A: 1.0})
    assert len(found) == NODES_MAX
    assert next(iter(found)) == E


def test_entities_of_the_best_first():
    """At most eight are followed, each from the best seed that has it."""
    holders = [(B, ["Ada", "Bob"]), (A, ["Bob", *(f"thing {n}" for n in range(20))])]
    followed = shared_entities(holders, {A: 1.0, B: 0.5})
    assert len(followed) == ENTITIES_MAX
    assert followed["Bob"] == A
    assert "Ada" not in followed


@pytest.mark.parametrize("seeds", [{}, {A: 1.0}])
def test_without_entities_nothing_is_followed(seeds):
    assert shared_entities([], seeds) == {}
    assert reached([], seeds) == {}
