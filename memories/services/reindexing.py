"""Make the index anew from what it is made of, where it differs; searches go on and find the same (DEG-05, CON-06).

Each memory's rows are compared with what its content gives, and replaced together where they are not that; then each
packed chunk is made again from its rows, in one commit of its own; then vectors that are missing are made. Nothing is
taken away before what replaces it is there, so a search in between finds what it would have found before or after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from banks.access import Access
from banks.services.audit import Audited, record_audit
from memories.index.compaction import forget_documents, packed_chunks, repack_chunk
from memories.index.indexing import Indexable, keyword_rows, units_of, vector_rows
from memories.index.spaces import hold_space
from memories.jobs import JobKind
from memories.models import Embedding, Job, Memory, MemoryIndex, MigrationRecord
from memories.models.retrieval import INDEX_VERSION
from memories.rules.vocabulary import IndexState
from memories.services.batches import lock_unchanged, open_batch
from memories.services.contention import despite_deadlocks
from memories.services.context import WriteContext, extend_documents
from memories.services.datamigrations import begin_migration, end_migration, note_rows
from memories.services.jobs import enqueue_job, finish_job, hold_job, report_progress
from memoryhub.lib.bulk import insert_rows

BATCH = 500

type Row = tuple[int, list[int], list[int], int, int]


@dataclass
class _Rebuild:
    """One attempt and what it found."""

    context: WriteContext
    job: Job
    total: int
    done: int = 0
    words: int = 0
    vectors: int = 0
    broken: int = 0

    def advance(self, more: int, stage: str) -> None:
        self.done += more
        self.total = max(self.total, self.done)
        report_progress(self.job, self.done, self.total, stage)

    @property
    def told(self) -> str:
        found = {
            "had other words": self.words,
            "had no vector": self.vectors,
            "do not open and were left": self.broken,
        }
        return "; ".join(f"{count} {what}" for what, count in found.items() if count)


def start_reindex(access: Access) -> MigrationRecord:
    """Begin to make the vault's index anew; in the running transaction. Raises MigrationRunning."""
    about = "The keyword index is compared with what it is made of and mended; missing vectors are made."
    return begin_migration(access, JobKind.REINDEX_MEMORIES, f"index version {INDEX_VERSION}", about)


def reindex_memories(access: Access, job: Job) -> int:
    """Compare and mend every memory's part of the index, and finish the job; how many were mended. Raises JobLost."""
    memories = Memory.objects.in_vault(access.vault_id).order_by("id")
    rebuild = _Rebuild(WriteContext.of(access), job, memories.count())
    rebuild.advance(0, "comparing")
    note_rows(job, 0, rebuild.total)
    columns = ("id", "vault_id", "content", "version", "doc_no", "index_state")
    batch = list(memories.only(*columns)[:BATCH])
    while batch:
        _mend(rebuild, batch)
        rebuild.advance(len(batch), "comparing")
        batch = list(memories.only(*columns).filter(id__gt=batch[-1].pk)[:BATCH])
    if rebuild.context.settings["keyword_index"]:
        chunks = packed_chunks(access.vault_id)
        for place, chunk in enumerate(chunks):
            report_progress(job, place, len(chunks), "packing postings")
            repack_chunk(access.vault_id, chunk)
    with transaction.atomic():
        finish_job(job)
        end_migration(job, rebuild.told)
        record_audit(access, Audited("reindex_memories", "vault", access.vault_id))
    return rebuild.words + rebuild.vectors


@despite_deadlocks
def _mend(rebuild: _Rebuild, batch: Sequence[Memory]) -> None:
    """Compare a batch outside any transaction; replace what differs in one commit, where nobody changed it since."""
    readable, broken = open_batch(batch)
    other = _with_other_words(rebuild.context, readable)
    blind = _without_vectors(rebuild.context, readable)
    versions = {item.memory.pk: int(item.memory.version) for item in [*other, *blind]}
    with transaction.atomic():
        hold_job(rebuild.job)
        unchanged = lock_unchanged(rebuild.context.access, versions) if versions else set()
        words = _replace_words(rebuild.context, [item for item in other if item.memory.pk in unchanged])
        vectors = _add_vectors(rebuild.context, [item for item in blind if item.memory.pk in unchanged])
        note_rows(rebuild.job, len(batch))
    rebuild.words, rebuild.vectors, rebuild.broken = (
        rebuild.words + words,
        rebuild.vectors + vectors,
        rebuild.broken + len(broken),
    )


def _with_other_words(context: WriteContext, items: Sequence[Indexable]) -> list[Indexable]:
    """Those whose rows are not what their content gives, unit by unit; none where the vault keeps no words."""
    if not context.settings["keyword_index"]:
        return []
    columns = ("memory_id", "unit", "terms", "tfs", "doc_len", "chars", "index_version")
    there: dict[UUID, set[object]] = {item.memory.pk: set() for item in items}
    for memory_id, *row in MemoryIndex.objects.filter(memory_id__in=list(there)).values_list(*columns):
        there[memory_id].add(_comparable(row))
    wanted: dict[UUID, set[object]] = {item.memory.pk: set() for item in items}
    for made in keyword_rows(context.access.keys.index, items):
        row = [made.unit, made.terms, made.tfs, made.doc_len, made.chars, INDEX_VERSION]
        wanted[made.memory_id].add(_comparable(row))
    return [item for item in items if there[item.memory.pk] != wanted[item.memory.pk]]


def _comparable(row: Sequence[object]) -> tuple[object, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in row)


def _without_vectors(context: WriteContext, items: Sequence[Indexable]) -> list[Indexable]:
    """Those that should have vectors in the space the vault is searched in, do not, and wait for no job."""
    if context.space is None:
        return []
    there = Embedding.objects.filter(memory_id__in=[item.memory.pk for item in items], space_id=context.space.space_id)
    seen = set(there.values_list("memory_id", flat=True))
    waits = {IndexState.PENDING.value}
    return [item for item in items if item.memory.pk not in seen and item.memory.index_state not in waits]


def _replace_words(context: WriteContext, items: Sequence[Indexable]) -> int:
    if items:
        forget_documents([item.memory.pk for item in items])
        insert_rows(keyword_rows(context.access.keys.index, [_numbered(context, item) for item in items]))
    return len(items)


def _numbered(context: WriteContext, item: Indexable) -> Indexable:
    """Its first unit keeps the memory's own number; the others get new ones, as when a memory grows."""
    more = len(units_of(item.content)) - 1
    return Indexable(item.memory, item.content, extend_documents(context.access.vault_id, more) if more else None)


def _add_vectors(context: WriteContext, items: Sequence[Indexable]) -> int:
    """Make them here where the embedder is local; where it is remote they wait for its job."""
    if not items or context.space is None:
        return 0
    rows = Memory.objects.filter(pk__in=[item.memory.pk for item in items])
    if context.space.embedder.local:
        hold_space(context.access.vault_id, context.space)
        insert_rows(vector_rows(context.space, items))
        rows.update(index_state=IndexState.READY)
    else:
        rows.update(index_state=IndexState.PENDING)
        enqueue_job(context.access.vault_id, JobKind.EMBED_MEMORIES, dedupe_key="waiting")
    return len(items)
