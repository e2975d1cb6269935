"""Fills vaults through the write service itself, in processes of its own: for sizes that would take hours over HTTP.

The rows are those of the real path, sealed, indexed and audited. Left out is HTTP, waiting for the disk at each commit,
the comparison with what is there (every memory is new), and the worker: what it would do meanwhile, packing postings
and building vector indexes, is done and timed at the end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from django.db import connection
from django.db.models import QuerySet

from banks.access import ALL_SCOPES, system_access
from banks.models import Vault
from banks.services.drafts import KeyDraft
from banks.services.keys import create_key
from banks.services.vaults import create_vault
from memories.index.compaction import chunks_to_compact, compact_chunk
from memories.index.graphs import build_graph, needs_graph
from memories.management.bench.client import BenchFailed
from memories.management.bench.hub import NOT_ITS_OWN
from memories.management.bench.layout import Layout
from memories.management.bench.load import BATCH, Filling
from memories.management.bench.words import Author, session_of
from memories.models import Memory, VaultSpace
from memories.rules.drafts import MemoryDraft
from memories.rules.vocabulary import Outcome
from memories.services.writing import WriteResult, write_batch
from memoryhub.env import BASE_DIR
from memoryhub.lib.sealing import gate

REQUEST = "bench"


@dataclass(frozen=True)
class Finished:
    """What was done once everything was written, and a key for each vault in their order."""

    keys: list[str]
    seconds: dict[str, float]


def fill_directly(data: Path, layout: Layout, advance: Callable[[int], None]) -> Filling:
    """Fill the hub that runs on ``data``, with a process for each core; ``advance`` hears how many more there are."""
    shares = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    started = time.monotonic()

    def follow(share: int) -> tuple[int, int]:
        written, created = 0, 0
        for line in _here(data, layout, f"--share={share}/{shares}"):
            there, wrote, made = json.loads(line)
            written, created = written + wrote, created + made
            advance(there + wrote)
        return written, created

    with ThreadPoolExecutor(shares) as pool:
        done = list(pool.map(follow, range(shares)))
    seconds = time.monotonic() - started
    return Filling(sum(written for written, _ in done), sum(created for _, created in done), seconds)


def finish_directly(data: Path, layout: Layout) -> Finished:
    """Pack, build and vacuum in the hub that runs on ``data``, and make a key for each vault."""
    *_, last = _here(data, layout, "--finish")
    return Finished(**json.loads(last))


def _here(data: Path, layout: Layout, *words: str) -> Iterator[str]:
    """The lines that ``bench fill --here`` prints in a process of its own."""
    command = [sys.executable, str(BASE_DIR / "manage.py"), "bench", "fill", "--here", *words]
    command += [f"--memories={layout.memories}", f"--vaults={layout.vaults}", f"--seed={layout.seed}"]
    environment = {name: value for name, value in os.environ.items() if name not in NOT_ITS_OWN}
    environment |= {"MEMORYHUB_DATA": str(data), "MEMORYHUB_LOG_LEVEL": "ERROR"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        yield from process.stdout or ()
    if process.returncode:
        raise BenchFailed("A process that fills the store failed; see above.")


def write_share(layout: Layout, share: int, shares: int, say: Callable[[str], None]) -> None:
    """Write every ``shares``-th batch; says ``[found there, written, created]`` after each. In the filling process."""
    with gate.session():
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit = off")
        author = Author(layout.seed)
        if layout.vaults == 1:
            batches = _batches_of_one(layout, share, shares, say)
        else:
            mine = range(share, layout.vaults, shares)
            batches = _batches_of_many(layout, mine, say)
        for vault, numbers in batches:
            # Compared with each other, a million new memories would take days until the vector index is there.
            drafts = [MemoryDraft.model_validate(author.memory(number) | {"dedup": False}) for number in numbers]
            results = write_batch(system_access(vault.pk, REQUEST), drafts)
            say(json.dumps([0, len(numbers), _created(results)]))


def finish(layout: Layout) -> Finished:
    """What a worker would have done, timed; call it in a process of the hub's own."""
    seconds = {"fill.packing_seconds": 0.0, "fill.graph_seconds": 0.0}
    keys = []
    with gate.session():
        for vault in _vaults(layout):
            access = system_access(vault.pk, REQUEST)
            started = time.monotonic()
            for chunk in chunks_to_compact(vault.pk, vault.next_doc_no):
                compact_chunk(vault.pk, chunk)
            packed = time.monotonic()
            for place in VaultSpace.objects.select_related("space").filter(vault=vault, is_active=True):
                if needs_graph(place):
                    build_graph(place)
            seconds["fill.packing_seconds"] += packed - started
            seconds["fill.graph_seconds"] += time.monotonic() - packed
            keys.append(create_key(access, KeyDraft(name=REQUEST, scopes=sorted(ALL_SCOPES)))[1])
    started = time.monotonic()
    with connection.cursor() as cursor:
        # What autovacuum does by itself within minutes; nobody should measure before it has.
        cursor.execute("VACUUM ANALYZE")
    return Finished(keys, seconds | {"fill.vacuum_seconds": time.monotonic() - started})


def _batches_of_one(
    layout: Layout, share: int, shares: int, say: Callable[[str], None]
) -> Iterator[tuple[Vault, range]]:
    """Every ``shares``-th batch that is not there yet; a batch is written whole or not at all."""
    (vault,) = _vaults(layout)
    there = set(Memory.objects.in_vault(vault.pk).order_by().values_list("session_id", flat=True).distinct())
    for first in range(share * BATCH, layout.memories, shares * BATCH):
        numbers = range(first, min(first + BATCH, layout.memories))
        if session_of(first) in there:
            say(json.dumps([len(numbers), 0, 0]))
        else:
            yield vault, numbers


def _batches_of_many(layout: Layout, mine: Sequence[int], say: Callable[[str], None]) -> Iterator[tuple[Vault, range]]:
    known = {vault.name: vault for vault in Vault.objects.all()}
    for number in mine:
        vault = known.get(_name(number)) or create_vault(_name(number))
        if there := Memory.objects.in_vault(vault.pk).count():
            say(json.dumps([there, 0, 0]))
        start = number * layout.memories
        for first in range(there, layout.memories, BATCH):
            yield vault, range(start + first, start + min(first + BATCH, layout.memories))


def _vaults(layout: Layout) -> QuerySet[Vault]:
    """The first start's own vault, or those with a number, in its order."""
    if layout.vaults == 1:
        return Vault.objects.order_by("created_at")[:1]
    return Vault.objects.filter(name__in=[_name(number) for number in range(layout.vaults)]).order_by("name")


def _name(number: int) -> str:
    return f"Bench {number:06}"


def _created(results: Sequence[object]) -> int:
    return sum(isinstance(result, WriteResult) and result.outcome == Outcome.CREATED for result in results)
