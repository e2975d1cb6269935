"""Keep the index fast as a vault grows: pack full chunks of postings, build the vault's graph, drain its tail, and
take away the vectors of a space it has left.

Nothing here changes what search finds, only how quickly; every step commits by itself and can be repeated.
"""

from __future__ import annotations

import datetime as dt
from uuid import UUID

from django.db import transaction

from banks.access import Access
from memories.index.compaction import chunks_to_compact, compact_chunk
from memories.index.graphs import TAIL_MAX, GraphsBusy, build_graph, count_vectors, drain_tail, drop_graph, needs_graph
from memories.jobs import JobKind
from memories.models import Embedding, Job, VaultSpace
from memories.rules.vocabulary import JobState
from memories.services.jobs import defer_job, enqueue_job, finish_job, report_progress
from memoryhub.lib.clock import now

#: Every so many document numbers somebody should look whether there is something to do.
LOOK_EVERY = 4_096
#: A search that began in a space is over this long after the vault has left it.
READ_UNTIL = dt.timedelta(seconds=60)
FORGOTTEN_AT_ONCE = 5_000
#: Who finds another worker at it comes back after this long.
LOOK_AGAIN = dt.timedelta(seconds=10)


def remember_upkeep(vault_id: UUID, first_doc_no: int, count: int) -> None:
    """Enqueue upkeep when a write crosses a multiple of 4,096 documents. Costs nothing otherwise."""
    if first_doc_no // LOOK_EVERY != (first_doc_no + count) // LOOK_EVERY:
        enqueue_job(vault_id, JobKind.KEEP_INDEX, dedupe_key="keep")


def keep_index(access: Access, job: Job) -> int:
    """Do what there is to do and finish the job; how many documents and vectors were moved. Raises JobLost.

    One worker at a time in a vault: two would put the same vectors into its index twice, and one of them would drop
    the index the other has just built.
    """
    if _is_kept(job):
        _come_back(job)
        return 0
    try:
        moved = _pack(access, job) + _graph(access, job) + _forget_spaces(access, job)
    except GraphsBusy:
        _come_back(job)
        return 0
    with transaction.atomic():
        finish_job(job)
    return moved


def _is_kept(job: Job) -> bool:
    """Whether somebody else is at it. Each claims before it looks, so of two at the same moment one sees the other."""
    others = Job.objects.filter(vault_id=job.vault_id, kind=JobKind.KEEP_INDEX, state=JobState.RUNNING)
    return others.filter(lease_until__gte=now()).exclude(pk=job.pk).exists()


def _come_back(job: Job) -> None:
    """Later, unless one that waits already will look: then nothing is left to do, and nobody is told of it."""
    twins = Job.objects.filter(vault_id=job.vault_id, kind=JobKind.KEEP_INDEX, state=JobState.PENDING)
    if job.dedupe_key is not None and twins.filter(dedupe_key=job.dedupe_key).exists():
        finish_job(job)
    else:
        defer_job(job, now() + LOOK_AGAIN, "A vector index is being looked after just now, one at a time.")


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
        report_progress(job, 0, 1, "building the vector index")
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


def _forget_spaces(access: Access, job: Job) -> int:
    """Delete the vectors of spaces that were left long enough ago that no search can still be reading them."""
    left = VaultSpace.objects.filter(vault_id=access.vault_id, retired_at__lt=now() - READ_UNTIL)
    forgotten = 0
    for place in left.select_related("space"):
        total = count_vectors(place)
        drop_graph(place)
        while batch := _forget_vectors(place):
            forgotten += batch
            report_progress(job, min(forgotten, total), total, "removing vectors of the former space")
    return forgotten


def _forget_vectors(place: VaultSpace) -> int:
    """The next batch, in one commit; 0 when nothing is left, or somebody wants the space again."""
    with transaction.atomic():
        held = VaultSpace.objects.select_for_update().filter(pk=place.pk, retired_at__isnull=False, is_active=False)
        if not held.exists():
            return 0
        rows = Embedding.objects.filter(vault_id=place.vault_id, space_id=place.space_id)
        gone, _ = Embedding.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE])).delete()
        if not gone:
            held.delete()
    return gone
