"""Keep the index fast as a vault grows: pack full chunks of postings, build the vault's graph, drain its tail.

Nothing here changes what search finds, only how quickly; every step commits by itself and can be repeated.
"""

from __future__ import annotations

import datetime as dt
from uuid import UUID

from django.db import transaction

from banks.access import Access
from memories.index.compaction import chunks_to_compact, compact_chunk
from memories.index.graphs import TAIL_MAX, build_graph, count_vectors, drain_tail, needs_graph
from memories.jobs import JobKind
from memories.models import Job, VaultSpace
from memories.services.jobs import enqueue_job, finish_job, report_progress

#: Every so many document numbers somebody should look whether there is something to do.
LOOK_EVERY = 4_096
#: Building a graph is one statement that reports nothing until it is done.
BUILD_LEASE = dt.timedelta(minutes=30)


def remember_upkeep(vault_id: UUID, first_doc_no: int, count: int) -> None:
    """Enqueue upkeep when a write crosses a multiple of 4,096 documents. Costs nothing otherwise."""
    if first_doc_no // LOOK_EVERY != (first_doc_no + count) // LOOK_EVERY:
        enqueue_job(vault_id, JobKind.KEEP_INDEX, dedupe_key="keep")


def keep_index(access: Access, job: Job) -> int:
    """Do what there is to do and finish the job; how many documents and vectors were moved. Raises JobLost."""
    moved = _pack(access, job) + _graph(access, job)
    with transaction.atomic():
        finish_job(job)
    return moved


def _pack(access: Access, job: Job) -> int:
    moved, chunks = 0, chunks_to_compact(access.vault_id, access.vault.next_doc_no)
    for place, chunk in enumerate(chunks):
        report_progress(job, place, len(chunks), "packing postings")
        moved += compact_chunk(access.vault_id, chunk)
    return moved


def _graph(access: Access, job: Job) -> int:
    place = VaultSpace.objects.select_related("space").filter(vault_id=access.vault_id, is_active=True).first()
    if place is None:
        return 0
    if needs_graph(place):
        report_progress(job, 0, 1, "building the vector index", lease=BUILD_LEASE)
        build_graph(place)
        return 1
    waiting = count_vectors(place, TAIL_MAX * 64, only_tail=True) if place.has_graph else 0
    if waiting < TAIL_MAX:
        return 0
    moved = 0
    while batch := drain_tail(place):
        moved += batch
        report_progress(job, min(moved, waiting), waiting, "adding vectors to the index")
    return moved
