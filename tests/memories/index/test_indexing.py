"""A long memory is indexed in units, each a document of its own; it stays one memory (CON-07, MOD-46)."""

from __future__ import annotations

import pytest

from banks.models import Vault
from memories.index.compaction import chunks_to_compact, compact_chunk
from memories.index.postings import CHUNK
from memories.models import Embedding, MemoryIndex, Posting
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import MemoryFilter, SearchQuery
from memories.search.listing import list_memories
from memories.search.recall import search_memories
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.writing import WriteResult, write_batch
from tests.factories import draft, operator, remember

FILLER = " ".join(f"Paragraph {n} is about nothing in particular." for n in range(30))
LONG = f"The anchor is rusty. {FILLER} The beacon is green. {FILLER} The compass points north."


@pytest.fixture(params=["fresh", "packed"])
def world(request, vault, access):
    """A long memory between two short ones, in the tail or in packed postings."""
    Vault.objects.filter(pk=vault.pk).update(next_doc_no=CHUNK - 6)
    rows = [remember(access, text) for text in ("A rusty anchor.", LONG, "The compass and the beacon.", "After all.")]
    reader = operator(Vault.objects.get(pk=vault.pk))
    if request.param == "packed":
        pack(reader)
    return reader, rows


def pack(access):
    for chunk in chunks_to_compact(access.vault_id, CHUNK):
        compact_chunk(access.vault_id, chunk)


def listed(access, text):
    return {memory.pk for memory in list_memories(access, MemoryFilter(q=text)).items}


def words_found(access, question):
    answer = search_memories(access, SearchQuery.parse({"query": question, "threshold": 1.0}))
    return {hit.memory.pk for hit in answer.hits if "keyword" in hit.legs}


def test_every_unit_has_a_number_of_its_own_and_a_vector(world):
    _, (first, long, after, _) = world
    units = list(MemoryIndex.objects.filter(memory=long).order_by("unit"))
    assert [row.doc_no for row in units] == [long.doc_no + n for n in range(len(units))]
    assert len(units) == Embedding.objects.filter(memory=long).count() > 2
    assert (long.doc_no, after.doc_no) == (first.doc_no + 1, long.doc_no + len(units))
    assert all(0 < row.chars <= 900 for row in units)
    assert sum(row.chars for row in units) == pytest.approx(len(LONG), abs=len(units))


def test_words_far_apart_are_words_of_one_memory(world):
    """The list's text filter means all words somewhere in the memory."""
    access, (first, long, after, _) = world
    assert listed(access, "anchor compass") == {long.pk}
    assert listed(access, "rusty anchor") == {first.pk, long.pk}
    assert listed(access, "beacon compass") == {long.pk, after.pk}
    assert listed(access, "beacon") == {long.pk, after.pk}
    assert listed(access, "anchor compass zebra") == set()


def test_an_edit_that_makes_it_longer_or_shorter(world):
    access, (first, long, _, _) = world
    update_memory(access, first.pk, MemoryChanges.parse({"content": f"{LONG} The dory leaks."}))
    numbers = MemoryIndex.objects.order_by("doc_no").values_list("doc_no", flat=True)
    assert len(set(numbers)) == len(numbers)
    pack(access)
    assert listed(access, "anchor dory") == words_found(access, "dory") == {first.pk}
    update_memory(access, first.pk, MemoryChanges.parse({"content": "An ocarina."}))
    assert listed(access, "dory") == words_found(access, "dory") == set()
    assert listed(access, "ocarina") == {first.pk}
    assert MemoryIndex.objects.filter(memory=first).count() == Embedding.objects.filter(memory=first).count() == 1
    assert listed(access, "anchor compass") == {long.pk}


def test_erasing_takes_every_unit(world):
    access, rows = world
    assert erase_memory(access, rows[1].pk).removed["keyword_index"] > 2
    assert not MemoryIndex.objects.filter(memory_id=rows[1].pk).exists()
    assert words_found(access, "compass") == {rows[2].pk}
    for row in (rows[0], *rows[2:]):
        erase_memory(access, row.pk)
    assert not MemoryIndex.objects.exists()
    assert not Posting.objects.exists()


def test_a_batch_hands_out_numbers_without_gaps(access):
    results = write_batch(access, [draft(LONG), draft("Short."), draft(f"{LONG} Again.")])
    numbers = sorted(MemoryIndex.objects.values_list("doc_no", flat=True))
    assert numbers == list(range(len(numbers)))
    written = [result.memory for result in results if isinstance(result, WriteResult)]
    assert len(written) == len(results)
    firsts = [MemoryIndex.objects.get(memory=memory, unit=0).doc_no for memory in written]
    assert [memory.doc_no for memory in written] == firsts
