"""A vault's own HNSW index: built beside the running search, the tail scanned exactly (SRC-02)."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import connection

from banks.models import Vault
from memories.index import graphs
from memories.index.spaces import active_space
from memories.models import Embedding, Memory, VaultSpace
from memories.rules.filters import MemoryFilter
from memories.search.candidates import allowed
from memories.search.filtering import matching
from memories.search.meaning import Nearest, semantic_leg
from memoryhub.lib.sealing import gate
from tests.factories import make_vault, operator, remember

pytestmark = pytest.mark.django_db(transaction=True)
DIMENSIONS = 256


@pytest.fixture
def place(transactional_db):
    """A vault with forty memories whose vectors are random but known."""
    vault = make_vault("Large")
    access = operator(vault)
    for number in range(40):
        remember(access, f"Memory number {number} says nothing in particular.", dedup=False)
    dice = np.random.default_rng(7)
    for row in Embedding.objects.order_by("pk"):
        row.vector = dice.normal(size=DIMENSIONS).tolist()
        row.save(update_fields=["vector"])
    yield VaultSpace.objects.select_related("space").get(vault=vault)
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE 'graph_%'")
        for (name,) in cursor.fetchall():
            cursor.execute(f"DROP INDEX {name}")


def ask(place, *, has_graph, floor=-1.0):
    with gate.session():
        access = operator(Vault.objects.get(pk=place.vault_id))
        rows = allowed(matching(access, MemoryFilter()))
        assert rows is not None
        vector = np.random.default_rng(8).normal(size=DIMENSIONS)
        asked = Nearest(place.space_id, vector.tolist(), floor, 10, has_graph)
        return semantic_leg(access, rows, asked)


def test_the_graph_finds_what_the_scan_finds(place):
    exact = ask(place, has_graph=False)
    graphs.build_graph(place)
    assert VaultSpace.objects.get(pk=place.pk).has_graph
    assert ask(place, has_graph=True) == pytest.approx(exact)


def test_new_vectors_wait_in_the_tail_and_are_found_there(place):
    graphs.build_graph(place)
    late = Memory.objects.order_by("created_at").first()
    Embedding.objects.filter(memory=late).update(in_tail=True)
    assert ask(place, has_graph=True) == pytest.approx(ask(place, has_graph=False))
    assert graphs.count_vectors(place, 10, only_tail=True) == 1
    assert graphs.drain_tail(place) == 1
    assert graphs.drain_tail(place) == 0


def test_building_again_replaces_what_a_killed_build_left(place):
    graphs.build_graph(place)
    graphs.build_graph(place)
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = %s", [f"graph_{place.pk.hex}"])
        ((definition,),) = cursor.fetchall()
    assert str(place.vault_id) in definition


def test_small_vaults_get_none(place):
    assert not graphs.needs_graph(place)
    with gate.session():
        space = active_space(place.vault_id)
    assert space is not None
    assert space.has_graph is False
