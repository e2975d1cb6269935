"""The semantic leg: similarity is the right way up, filters lose nothing, the floor is for cosine alone."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import connection
from django.db.models import F

from banks.access import Access
from banks.models import Vault
from memories.index.spaces import active_space
from memories.models import Embedding, Memory, VaultSpace
from memories.rules.filters import MemoryFilter
from memories.search import meaning
from memories.search.candidates import allowed, run
from memories.search.filtering import matching
from memories.search.meaning import Nearest, semantic_leg
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.text import split_units
from memoryhub.local.addresses import NEAREST_LOOKED_AT
from tests.factories import remember

DIMENSIONS = 256


def ask(
    access: Access,
    vector: object,
    floor: float = 0.0,
    limit: int = 50,
    wanted: MemoryFilter | None = None,
    has_graph: bool = False,
):
    space = active_space(access.vault_id)
    rows = allowed(matching(access, wanted or MemoryFilter()))
    assert space is not None
    assert rows is not None
    return semantic_leg(access, rows, Nearest(space.space_id, list(np.asarray(vector)), floor, limit, has_graph))


def embed(text: str) -> np.ndarray:
    space = active_space(VaultSpace.objects.get().vault_id)
    assert space is not None
    return np.asarray(space.embedder.embed([text])[0])


def test_identical_text_is_as_close_as_can_be(access):
    """DUP-23: similarity is 1 − distance: identical is 1.0, related is less, unrelated is least."""
    same = remember(access, "The harbour is full of fishing boats.")
    related = remember(access, "Fishing boats lie in the harbour.")
    other = remember(access, "The quarterly tax report is due on Monday.")
    found = ask(access, embed("The harbour is full of fishing boats."), floor=-1.0)
    assert found[same.pk] == pytest.approx(1.0, abs=1e-3)
    assert found[same.pk] > found[related.pk] > found[other.pk]
    assert list(found) == [same.pk, related.pk, other.pk]


def test_the_floor_cuts_by_cosine(access):
    """SRC-17: what is less similar does not count, to the threshold itself."""
    same = remember(access, "The harbour is full of fishing boats.")
    remember(access, "The quarterly tax report is due on Monday.")
    assert list(ask(access, embed("The harbour is full of fishing boats."), floor=0.9)) == [same.pk]


def synthetic(access: Access, count: int) -> tuple[list[Memory], np.ndarray]:
    """Many memories with random vectors of one cap of the sphere; the content is never opened."""
    first = remember(access, "the first, which founds the space")
    space = active_space(access.vault_id)
    assert space is not None
    chance = np.random.default_rng(5)
    vectors = chance.normal(size=(count, DIMENSIONS)).astype(np.float32) + 0.2
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    number = first.doc_no + 1
    Vault.objects.filter(pk=access.vault_id).update(next_doc_no=F("next_doc_no") + count)
    memories = [
        Memory(
            vault=access.vault,
            bank_id=first.bank_id,
            doc_no=number + n,
            content="synthetic",
            source_kind="import",
            trust="untrusted",
            tags=["rare"] if n % 97 == 0 else [],
        )
        for n in range(count)
    ]
    insert_rows(memories)
    insert_rows(
        [
            Embedding(vault=access.vault, memory=memory, space_id=space.space_id, vector=vector)
            for memory, vector in zip(memories, vectors, strict=True)
        ]
    )
    Embedding.objects.filter(memory=first).delete()
    return memories, vectors


@pytest.mark.parametrize("floor", [-1.0, 0.05])
@pytest.mark.parametrize(
    ("has_graph", "few"), [(False, 0), (True, meaning.FEW), (True, -1)], ids=["small vault", "few pass", "many pass"]
)
def test_a_selective_filter_finds_what_an_unlimited_scan_would(access, monkeypatch, has_graph, few, floor):
    """SRC-18: with more vectors than are looked at first, all that pass are found, with their cosines."""
    monkeypatch.setattr(meaning, "FEW", few)
    count = max(2_000, 2 * NEAREST_LOOKED_AT)
    memories, vectors = synthetic(access, count)
    question = np.ones(DIMENSIONS, np.float32) / np.sqrt(DIMENSIONS)
    halves = vectors.astype(np.float16).astype(np.float32)
    cosines = halves @ question / np.linalg.norm(halves, axis=1)
    rare = {memory.pk: float(cosine) for memory, cosine in zip(memories, cosines, strict=True) if memory.tags}
    expected = sorted((pk for pk in rare if rare[pk] >= floor), key=lambda pk: -rare[pk])
    found = ask(access, question, floor, limit=200, wanted=MemoryFilter(tag=["rare"]), has_graph=has_graph)
    assert set(found) == set(expected)
    assert len(found) > 5
    for pk, cosine in found.items():
        assert cosine == pytest.approx(rare[pk], abs=2e-3)
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_the_nearest_of_many_are_the_nearest(access):
    """SRC-02: without a filter the best ten are those of an exact computation."""
    memories, vectors = synthetic(access, 1_500)
    question = vectors[700]
    nearest = np.argsort(-(vectors @ question))[:10]
    found = ask(access, question, limit=10)
    assert set(found) == {memories[n].pk for n in nearest}
    assert next(iter(found)) == memories[700].pk


def test_a_memory_counts_as_its_best_unit(access):
    """DESIGN §5: long memories are indexed in units of at most 900 characters."""
    filler = "The quarterly tax report is due on Monday. " * 30
    text = f"{filler}\n{'The harbour is full of fishing boats. ' * 30}\n{filler}"
    memory = remember(access, text)
    question = embed("The harbour is full of fishing boats.")
    cosines = [float(np.dot(embed(unit), question)) for unit in split_units(text)]
    assert Embedding.objects.filter(memory=memory).count() == len(cosines) > 2
    assert max(cosines) > min(cosines) + 0.3
    assert ask(access, question) == {memory.pk: pytest.approx(max(cosines), abs=1e-3)}


def test_another_vaults_vectors_are_never_compared(access, other_access):
    """MOD-31: although both vaults share a space."""
    mine, theirs = remember(access, "the same words"), remember(other_access, "the same words")
    space = active_space(access.vault_id)
    assert space is not None
    (vector,) = space.embedder.embed(["the same words"])
    assert list(ask(access, vector)) == [mine.pk]
    assert list(ask(other_access, vector)) == [theirs.pk]


def test_a_few_are_compared_by_one_process(access):
    """Starting others for them takes nearly twice the processor time of comparing them."""
    remember(access, "The harbour is full of fishing boats.")
    space, rows = active_space(access.vault_id), allowed(matching(access, MemoryFilter()))
    assert space is not None
    assert rows is not None
    named = meaning._named(access, Nearest(space.space_id, embed("boats").tolist(), 0.0, 10))
    with connection.cursor() as cursor:
        # From here on everything that may be shared out is.
        cursor.execute("SET LOCAL debug_parallel_query = on")
    plain = "EXPLAIN SELECT id FROM memories_memory WHERE <passes>"
    plans = [str(run(text, rows, named)) for text in (plain, f"EXPLAIN {meaning._FILTER_FIRST}")]
    assert ["Gather" in plan for plan in plans] == [True, False]
