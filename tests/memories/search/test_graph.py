"""The graph leg on real rows: links both ways, shared entities, filters, bounded hubs (SRC-04, CON-22)."""

from __future__ import annotations

import pytest

from banks.access import system_access
from memories.models import Memory
from memories.rules.filters import SearchQuery
from memories.rules.graph import HUB_FROM, NODES_MAX, SHARED_ENTITY
from memories.rules.vocabulary import Relation
from memories.search.candidates import Allowed
from memories.search.graph import graph_leg
from memories.search.recall import understand
from memories.services.linking import create_link
from memories.services.writing import write_batch
from tests.factories import draft, make_vault, remember


def leg(access, seeds, **filters):
    asked = understand(access, SearchQuery.parse({"query": "anything", **filters}))
    assert asked is not None
    return graph_leg(access, asked.rows, seeds)


def test_links_in_both_directions_and_no_second_step(access):
    """CON-22: one hop from the seeds only."""
    seed, out, back, far = (remember(access, text).pk for text in ("one thing", "second", "the third", "fourth one"))
    create_link(access, seed, out, Relation.REFINES)
    create_link(access, back, seed, Relation.CONTRADICTS)
    create_link(access, out, far, Relation.REFINES)
    assert leg(access, {seed: 0.8}) == {out: 0.8, back: 0.4}


def test_memories_of_the_same_entity(access):
    """SRC-04: shared entities are a step too, a weaker one than most links."""
    seed = remember(access, "Ada repairs clocks.", entities=["Ada"]).pk
    other = remember(access, "A birthday in June.", entities=["Ada", "June"]).pk
    remember(access, "Somebody else altogether.", entities=["Bob"])
    assert leg(access, {seed: 1.0}) == {other: SHARED_ENTITY}


def test_filters_hold_for_the_step_and_where_it_leads(access):
    """SRC-18: neither by a link nor by an entity does a filtered memory come in."""
    seed = remember(access, "Ada repairs clocks.", entities=["Ada"], user_id="u").pk
    mine = remember(access, "A birthday in June.", entities=["Ada"], user_id="u").pk
    theirs = remember(access, "Another day in June.", entities=["Ada"], user_id="v").pk
    create_link(access, seed, theirs, Relation.REFINES)
    assert leg(access, {seed: 1.0}, user_id="u") == {mine: SHARED_ENTITY}


def test_another_vault_is_never_reached(access):
    """SRC-18: the same name there is somebody else."""
    seed = remember(access, "Ada repairs clocks.", entities=["Ada"]).pk
    remember(system_access(make_vault("Elsewhere").pk, "test"), "A birthday in June.", entities=["Ada"])
    assert leg(access, {seed: 1.0}) == {}


@pytest.mark.parametrize(("name", "holders", "reached"), [("O'Brien %s \"{},", 80, NODES_MAX), ("Ada", HUB_FROM, 0)])
def test_a_hub_stays_bounded(access, name, holders, reached):
    """CON-22: sixty nodes at most, and what a hundred share is not followed; names are data (SRC-20)."""
    texts = [f"Note number {n} of the archive." for n in range(holders)]
    write_batch(access, [draft(text, entities=[name], dedup=False) for text in texts])
    seed = Memory.objects.order_by("created_at", "pk").values_list("pk", flat=True)[0]
    assert len(leg(access, {seed: 1.0})) == reached


def test_without_seeds_nothing_is_asked(access, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert graph_leg(access, Allowed("", []), {}) == {}
