"""``bench cluster``: how long it takes, and how much memory, to find clusters among many old memories (CLU-07)."""

from __future__ import annotations

import datetime as dt
import resource
import time
from collections import Counter
from dataclasses import dataclass
from itertools import batched

from django.db import connection, transaction
from rich.console import Console

from banks.access import Access, system_access
from banks.services.banks import remembered_banks
from banks.services.vaults import create_vault
from memories.index.indexing import Indexable, vector_rows
from memories.management.bench.client import BenchFailed
from memories.management.bench.words import Author
from memories.models import Memory
from memories.rules.cells import CELL_MAX
from memories.rules.vocabulary import IndexState, SourceKind, Trust
from memories.services.clustering import FoundCluster, clusters_in, summarized_banks
from memories.services.context import WriteContext, allocate_documents
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id, short_id
from memoryhub.lib.sealing import gate

MEGABYTE = 1_024
BATCH = 5_000


@dataclass(frozen=True, slots=True)
class Clustering:
    """What was found among how many, in how many seconds, with so many megabytes at the peak and before."""

    examined: int
    clusters: list[FoundCluster]
    seconds: float
    before_mb: int
    peak_mb: int


def measure_clustering(memories: int, seed: int, console: Console) -> str:
    """Write so many old memories of one user into one bank, the worst case, and cluster them once."""
    with gate.session():
        access = system_access(create_vault(f"bench cluster {short_id(new_id())}").pk, "bench cluster")
        _fill(access, memories, seed, console)
        return as_text(cluster_once(access))


def cluster_once(access: Access) -> Clustering:
    """One pass over everything that is old enough, as a run makes it before its first summary."""
    context = WriteContext.of(access)
    before, started = _peak(), time.monotonic()
    found, examined = clusters_in(context, summarized_banks(context))
    return Clustering(examined, found, time.monotonic() - started, before, _peak())


def _fill(access: Access, memories: int, seed: int, console: Console) -> None:
    """Straight into the tables that clustering reads: the write service would take many times as long."""
    context, author, long_ago = WriteContext.of(access), Author(seed), now() - dt.timedelta(days=30)
    if context.space is None:
        raise BenchFailed("Clusters by meaning need an embedder: leave MEMORYHUB_EMBEDDER unset.")
    bank_id = remembered_banks(access.vault_id, context.config_version)[0].pk
    for numbers in batched(range(memories), BATCH):
        first = allocate_documents(access.vault_id, len(numbers)).first_doc_no
        rows = [
            Memory(
                vault_id=access.vault_id,
                bank_id=bank_id,
                doc_no=first + place,
                content=said["content"],
                tags=said["tags"],
                user_id="bench",
                source_kind=SourceKind.AGENT_INFERRED.value,
                trust=Trust.INFERRED.value,
                index_state=IndexState.READY.value,
                created_at=long_ago + dt.timedelta(seconds=number),
            )
            for place, number in enumerate(numbers)
            for said in [author.memory(number)]
        ]
        with transaction.atomic():
            insert_rows(rows)
            insert_rows(vector_rows(context.space, [Indexable(row, row.content) for row in rows]))
        console.print(f"{numbers[-1] + 1:,} memories written")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE memories_memory, memories_embedding")


def _peak() -> int:
    """The most memory this process ever held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // MEGABYTE


def as_text(done: Clustering) -> str:
    """The numbers in a few lines."""
    sizes = Counter(len(one.memory_ids) for one in done.clusters)
    told = ", ".join(f"{sizes[size]:,} of {size}" for size in sorted(sizes))
    return (
        f"{done.examined:,} old memories of one group, cells of {CELL_MAX:,}: {done.seconds:.1f} s\n"
        f"peak {done.peak_mb:,} MB, {done.before_mb:,} MB of them before it began\n"
        f"{len(done.clusters):,} clusters of {sum(sizes[size] * size for size in sizes):,} memories: {told or 'none'}\n"
    )
