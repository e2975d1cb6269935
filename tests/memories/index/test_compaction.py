"""Packing documents changes how they are found, never what is found (SRC-03, MOD-46)."""

from __future__ import annotations

import pytest

from banks.models import Vault
from memories.index.compaction import chunks_to_compact, compact_chunk
from memories.index.postings import CHUNK
from memories.models import MemoryIndex, Posting, PostingChunk
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import MemoryFilter, SearchQuery
from memories.search.listing import list_memories
from memories.search.recall import search_memories
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from tests.factories import operator, remember

TEXTS = [
    "The kettle in the kitchen whistles at noon.",
    "Noon is when the kettle boils, the red kettle.",
    "A bicycle leans against the kitchen wall.",
    "Walls are painted white in spring.",
    "Spring water boils at noon in the red kettle on the white wall of the kitchen.",
]
QUESTION = "red kettle noon kitchen"


@pytest.fixture
def memories(vault, access):
    """Five memories around the end of the first chunk: three in it, two beyond."""
    Vault.objects.filter(pk=vault.pk).update(next_doc_no=CHUNK - 3)
    return [remember(access, text) for text in TEXTS]


@pytest.fixture
def reader(vault, memories):
    """An access that knows how far the vault's numbers have come, as a new request would."""
    return operator(Vault.objects.get(pk=vault.pk))


def words_found(access, question=QUESTION):
    answer = search_memories(access, SearchQuery.parse({"query": question, "threshold": 1.0}))
    return {hit.memory.pk: hit.legs["keyword"].score for hit in answer.hits if "keyword" in hit.legs}


def compact(access):
    for chunk in chunks_to_compact(access.vault_id, access.vault.next_doc_no):
        compact_chunk(access.vault_id, chunk)


def test_scores_are_the_same_packed_or_not(reader, memories):
    before = words_found(reader)
    compact(reader)
    assert MemoryIndex.objects.filter(is_compacted=True).count() == 3
    after = words_found(reader)
    assert after.keys() == before.keys() and len(after) == 4
    for memory_id, score in before.items():
        assert after[memory_id] == pytest.approx(score, abs=1e-12)


def test_only_full_chunks_are_packed(reader, memories):
    assert chunks_to_compact(reader.vault_id, CHUNK - 1) == []
    assert chunks_to_compact(reader.vault_id, CHUNK) == [0]


def test_packing_twice_adds_nothing(reader, memories):
    compact(reader)
    postings = list(Posting.objects.order_by("term").values_list("term", "body"))
    assert compact_chunk(reader.vault_id, 0) == 0
    assert list(Posting.objects.order_by("term").values_list("term", "body")) == postings


def test_an_edited_memory_leaves_its_old_words_behind(reader, memories):
    compact(reader)
    update_memory(reader, memories[0].pk, MemoryChanges.parse({"content": "Lanterns glow in the harbour."}))
    assert memories[0].pk not in words_found(reader)
    assert set(words_found(reader, "lanterns harbour")) == {memories[0].pk}
    assert PostingChunk.objects.get(chunk=0).documents == 2


def test_a_late_document_joins_a_chunk_that_is_packed_already(reader, memories):
    compact(reader)
    before = words_found(reader)
    update_memory(reader, memories[0].pk, MemoryChanges.parse({"content": TEXTS[0] + " Really"}))
    update_memory(reader, memories[0].pk, MemoryChanges.parse({"content": TEXTS[0]}))
    compact(reader)
    assert words_found(reader) == pytest.approx(before)


def test_an_erased_memory_leaves_no_posting(reader, memories):
    compact(reader)
    for memory in memories:
        erase_memory(reader, memory.pk)
    assert words_found(reader) == {}
    assert not Posting.objects.exists()
    assert PostingChunk.objects.get(chunk=0).documents == 0
    assert PostingChunk.objects.get(chunk=0).total_length == 0


def test_the_lists_text_filter_finds_packed_and_fresh_ones(reader, memories):
    compact(reader)
    found = list_memories(reader, MemoryFilter(q="kettle noon"))
    assert {memory.pk for memory in found.items} == {memories[place].pk for place in (0, 1, 4)}


def test_another_vaults_postings_are_not_touched(reader, memories, other_access):
    compact(reader)
    theirs = remember(other_access, TEXTS[0])
    erase_memory(other_access, theirs.pk)
    assert len(words_found(reader)) == 4
