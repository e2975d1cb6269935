"""Move documents from the tail, which GIN finds, into packed postings, which numpy scores; and take them out again.

Whoever changes a chunk holds its advisory lock until the transaction ends, so that two changes of one body cannot
lose each other's documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

import numpy as np
from django.db import connection, transaction
from django.db.models import F

from memories.index.postings import CHUNK, Occurrence, chunk_of, merged, without
from memories.models import MemoryIndex, Posting, PostingChunk
from memoryhub.lib.bulk import insert_rows

type Row = tuple[int, int, int, list[int], list[int]]


def chunks_to_compact(vault_id: UUID, next_doc_no: int) -> list[int]:
    """Chunks all of whose numbers are handed out and that still have documents in the tail, ascending."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT doc_no / %s FROM memories_memoryindex"
            " WHERE vault_id = %s AND NOT is_compacted AND doc_no < %s ORDER BY 1",
            [CHUNK, vault_id, next_doc_no // CHUNK * CHUNK],
        )
        return [chunk for (chunk,) in cursor.fetchall()]


def compact_chunk(vault_id: UUID, chunk: int) -> int:
    """Pack the chunk's documents that are still in the tail; how many. In one transaction: no search misses any."""
    with transaction.atomic():
        _lock(vault_id, chunk)
        rows = _rows_of(vault_id, chunk)
        if rows:
            _pack(vault_id, chunk, rows)
            MemoryIndex.objects.filter(pk__in=[row[0] for row in rows]).update(is_compacted=True)
            totals, _ = PostingChunk.objects.get_or_create(vault_id=vault_id, chunk=chunk)
            PostingChunk.objects.filter(pk=totals.pk).update(
                documents=F("documents") + len(rows), total_length=F("total_length") + sum(row[2] for row in rows)
            )
    return len(rows)


def packed_chunks(vault_id: UUID) -> list[int]:
    """Chunks that hold packed documents, or say they do, ascending."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT doc_no / %s FROM memories_memoryindex WHERE vault_id = %s AND is_compacted"
            " UNION SELECT chunk FROM memories_postingchunk WHERE vault_id = %s"
            " UNION SELECT DISTINCT chunk FROM memories_posting WHERE vault_id = %s ORDER BY 1",
            [CHUNK, vault_id, vault_id, vault_id],
        )
        return [chunk for (chunk,) in cursor.fetchall()]


def repack_chunk(vault_id: UUID, chunk: int) -> int:
    """Pack the chunk's packed documents anew from their own rows; how many. In one transaction, like packing."""
    with transaction.atomic():
        _lock(vault_id, chunk)
        rows = _rows_of(vault_id, chunk, packed=True)
        Posting.objects.filter(vault_id=vault_id, chunk=chunk).delete()
        PostingChunk.objects.filter(vault_id=vault_id, chunk=chunk).delete()
        if rows:
            _pack(vault_id, chunk, rows)
            lengths = sum(row[2] for row in rows)
            PostingChunk.objects.create(vault_id=vault_id, chunk=chunk, documents=len(rows), total_length=lengths)
    return len(rows)


def forget_documents(memory_ids: Sequence[UUID]) -> int:
    """Take memories out of the keyword index, packed or not, in the running transaction; how many rows it held."""
    rows = MemoryIndex.objects.select_for_update().filter(memory_id__in=memory_ids)
    by_chunk: dict[tuple[UUID, int], list[MemoryIndex]] = defaultdict(list)
    for row in rows:
        if row.is_compacted:
            by_chunk[row.vault_id, chunk_of(row.doc_no)].append(row)
    for (vault_id, chunk), packed in sorted(by_chunk.items()):
        _lock(vault_id, chunk)
        _unpack(vault_id, chunk, packed)
    return MemoryIndex.objects.filter(memory_id__in=memory_ids).delete()[0]


def _lock(vault_id: UUID, chunk: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s), %s)", [f"postings {vault_id}", chunk])


def _rows_of(vault_id: UUID, chunk: int, *, packed: bool = False) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, doc_no, doc_len, terms, tfs FROM memories_memoryindex"
            " WHERE vault_id = %s AND is_compacted = %s AND doc_no >= %s AND doc_no < %s FOR UPDATE",
            [vault_id, packed, chunk * CHUNK, (chunk + 1) * CHUNK],
        )
        return list(cursor.fetchall())


def _pack(vault_id: UUID, chunk: int, rows: Sequence[Row]) -> None:
    """Group all (term, document) pairs by term, and write one body per term; merge where a body is there already."""
    bodies = _bodies(chunk, rows)
    there = (
        Posting.objects.filter(vault_id=vault_id, chunk=chunk, term__in=list(bodies))
        if _has_any(vault_id, chunk)
        else []
    )
    for posting in there:
        posting.body = merged(posting.body, bodies.pop(posting.term))
        posting.save(update_fields=["body"])
    insert_rows(
        [Posting(vault_id=vault_id, term=term, chunk=chunk, body=merged(None, found)) for term, found in bodies.items()]
    )


def _has_any(vault_id: UUID, chunk: int) -> bool:
    return PostingChunk.objects.filter(vault_id=vault_id, chunk=chunk).exists()


def _bodies(chunk: int, rows: Sequence[Row]) -> dict[int, list[Occurrence]]:
    sizes = [len(row[3]) for row in rows]
    terms = np.concatenate([np.array(row[3], np.int64) for row in rows])
    counts = np.concatenate([np.array(row[4], np.int64) for row in rows])
    offsets = np.repeat([row[1] - chunk * CHUNK for row in rows], sizes)
    lengths = np.repeat([row[2] for row in rows], sizes)
    order = np.lexsort((offsets, terms))
    bodies: dict[int, list[Occurrence]] = defaultdict(list)
    columns = (terms[order], offsets[order], counts[order], lengths[order])
    for term, offset, count, length in zip(*(column.tolist() for column in columns), strict=True):
        bodies[term].append(Occurrence(offset, count, length))
    return bodies


def _unpack(vault_id: UUID, chunk: int, rows: Sequence[MemoryIndex]) -> None:
    """Every body is rewritten once, however many of its documents go."""
    offsets = {row.doc_no - chunk * CHUNK for row in rows}
    terms = {term for row in rows for term in row.terms}
    held = Posting.objects.filter(vault_id=vault_id, chunk=chunk, term__in=terms)
    bodies = {posting.pk: without(posting.body, offsets) for posting in held}
    Posting.objects.filter(pk__in=[key for key, body in bodies.items() if not body]).delete()
    left = {key: body for key, body in bodies.items() if body}
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memories_posting p SET body = cut.body FROM unnest(%s::bigint[], %s::bytea[]) AS cut(id, body)"
            " WHERE p.id = cut.id",
            [list(left), list(left.values())],
        )
    PostingChunk.objects.filter(vault_id=vault_id, chunk=chunk).update(
        documents=F("documents") - len(rows), total_length=F("total_length") - sum(row.doc_len for row in rows)
    )
