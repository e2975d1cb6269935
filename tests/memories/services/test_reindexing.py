"""What the index lacks is seen, and made again from what it is made of; searches find the same all the while."""

from __future__ import annotations

import pytest

from banks.access import Access
from banks.models import Vault
from memories.index.compaction import chunks_to_compact, compact_chunk, forget_documents
from memories.index.postings import CHUNK
from memories.models import Embedding, Job, Memory, MemoryIndex, MigrationRecord, Posting, PostingChunk
from memories.rules.datamigrations import DataMigration
from memories.rules.filters import SearchQuery
from memories.rules.settings import Level
from memories.rules.vocabulary import IndexState
from memories.search.recall import search_memories
from memories.services import reindexing
from memories.services.migrating import start_migration
from memories.services.probing import Gaps, find_gaps, has_gaps
from memories.services.running import run_job
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from memoryhub.lib.sealing import Sealed
from tests.factories import operator, remember

TEXTS = ["the kettle is red", "a bicycle leans on the wall", "rain falls in spring", "the teapot is green"]
QUESTION = "red kettle green teapot"


@pytest.fixture
def memories(vault: Vault, access: Access) -> list[Memory]:
    """Four memories: two packed, two in the tail; one of them has two units."""
    Vault.objects.filter(pk=vault.pk).update(next_doc_no=CHUNK - 2)
    found = [remember(access, text) for text in [*TEXTS[:3], f"{TEXTS[3]}. {'It is really quite green. ' * 60}"]]
    for chunk in chunks_to_compact(vault.pk, Vault.objects.get(pk=vault.pk).next_doc_no):
        compact_chunk(vault.pk, chunk)
    return found


def reindex(access: Access) -> MigrationRecord:
    record = start_migration(access, DataMigration.REINDEX)
    assert run_job(Job.objects.get(ref__migration=str(record.pk)).pk)
    record.refresh_from_db()
    return record


def found(access: Access, question: str = QUESTION) -> dict[object, float]:
    reader = operator(Vault.objects.get(pk=access.vault_id))
    return {hit.memory.pk: hit.score for hit in search_memories(reader, SearchQuery(query=question)).hits}


def test_what_is_whole_is_left_alone(access, memories):
    """MIG-12: nothing is written where nothing differs."""
    before, rows = found(access), list(MemoryIndex.objects.order_by("pk").values_list())
    assert not has_gaps(access)
    record = reindex(access)
    assert (record.state, record.rows_done, record.rows_total, record.error) == ("done", 4, 4, "")
    assert (list(MemoryIndex.objects.order_by("pk").values_list()), found(access)) == (rows, before)


@pytest.mark.parametrize("place", [0, 3])
def test_a_memory_without_its_words_gets_them(access, memories, place):
    """DEG-05, CON-06: packed or not, of one unit or two: seen by the probe, mended, found as before."""
    before = found(access)
    forget_documents([memories[place].pk])
    assert find_gaps(access) == Gaps(words=1)
    assert reindex(access).error == "1 had other words"
    assert not has_gaps(access)
    assert found(access) == pytest.approx(before)


def test_a_memory_without_its_vector_gets_one(access, memories):
    """DEG-05, CON-06."""
    before = found(access)
    Embedding.objects.filter(memory=memories[3]).delete()
    assert find_gaps(access) == Gaps(vectors=1)
    assert reindex(access).error == "1 had no vector"
    assert not has_gaps(access)
    assert found(access) == pytest.approx(before)


def test_rows_of_another_version_or_with_other_words_are_replaced(access, memories):
    """MIG-12: the version of the index, and rows somebody damaged."""
    before = found(access)
    MemoryIndex.objects.filter(memory=memories[0]).update(index_version=0)
    MemoryIndex.objects.filter(memory=memories[2]).update(terms=[1, 2, 3], tfs=[1, 1, 1])
    assert find_gaps(access) == Gaps(words=1)
    assert reindex(access).error == "2 had other words"
    assert found(access) == pytest.approx(before)


def test_damaged_postings_are_packed_again(access, memories):
    """DEG-05: a chunk that does not add up, and bodies that lie."""
    before = found(access)
    PostingChunk.objects.update(documents=7)
    Posting.objects.filter(pk=Posting.objects.order_by("pk").values_list("pk", flat=True)[0]).delete()
    assert find_gaps(access) == Gaps(chunks=1)
    reindex(access)
    assert not has_gaps(access)
    assert found(access) == pytest.approx(before)


def test_a_worker_that_dies_is_followed_by_one_that_finishes(access, memories, monkeypatch):
    """DESIGN §7: what was mended stays mended, nothing is there twice."""
    before = found(access)
    MemoryIndex.objects.filter(memory__in=[memories[2].pk, memories[3].pk]).delete()
    monkeypatch.setattr(reindexing, "BATCH", 1)
    record = start_migration(access, DataMigration.REINDEX)
    job, mend, met = Job.objects.get(ref__migration=str(record.pk)), reindexing._mend, []

    def dies(rebuild, batch):
        mend(rebuild, batch)
        met.append(batch)
        if len(met) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(reindexing, "_mend", dies)
    with pytest.raises(KeyboardInterrupt):
        run_job(job.pk)
    assert find_gaps(access).words == 1
    Job.objects.update(lease_until=now())
    assert run_job(job.pk)
    assert not has_gaps(access)
    assert found(access) == pytest.approx(before)


def test_what_a_vault_switched_off_is_no_gap(access, memories):
    """CFG-01: without words or vectors nothing is missing, and none are made."""
    for key in ("keyword_index", "embeddings"):
        write_setting(access, Level.VAULT, key, False)
    MemoryIndex.objects.all().delete()
    Embedding.objects.all().delete()
    assert not has_gaps(access)
    reindex(access)
    assert (MemoryIndex.objects.count(), Embedding.objects.count()) == (0, 0)


def test_what_does_not_open_is_left_and_named(access, memories):
    """ENC-20."""
    Memory.objects.filter(pk=memories[1].pk).update(content=Sealed(b"M\x01broken"))
    assert reindex(access).error == "1 do not open and were left"
    assert Memory.objects.get(pk=memories[1].pk).index_state == IndexState.READY
