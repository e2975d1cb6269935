"""Embed what waits: memories whose vectors could not be made inside the write (a remote or failing embedder).

The embedder is asked outside any transaction; vectors, state and progress then commit together, fenced by the job's
attempt. A worker that dies in between loses nothing and leaves nothing twice.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Subquery

from banks.access import Access
from banks.models import Vault
from memories.calls.guarding import ModelUnavailable, guarded
from memories.index.indexing import vector_rows
from memories.index.spaces import ActiveSpace, active_space, hold_space
from memories.jobs import JobKind
from memories.models import Embedding, Job, Memory
from memories.rules.vocabulary import GuardedService, IndexState, JobState
from memories.services.batches import lock_unchanged, open_batch
from memories.services.checking import compare_embedded
from memories.services.jobs import enqueue_job, finish_job, hold_job, report_progress
from memoryhub.providers.base import ProviderError
from memoryhub.providers.registry import get_embedder

BATCH = 64


class NoSpace(ProviderError):
    """The configured embedder does not fit the vault's embedding space; configure the one it was filled with."""

    code = "no_space"


def embed_memories(access: Access, job: Job) -> int:
    """Embed every waiting memory of the vault and finish the job; how many.

    Raises ProviderError, JobLost, and ModelUnavailable while the embedder's guard is open: the job then waits (GRD-13).
    """
    embedder = get_embedder()
    with watched(access, embedder is not None and not embedder.knows_dimensions):
        space = active_space(access.vault_id)
    if space is None:
        raise NoSpace(permanent=True)
    # Failed ones too: whoever starts this job again wants them tried again (CLN-10).
    waiting = Memory.objects.in_vault(access.vault_id).filter(index_state__in=[IndexState.PENDING, IndexState.FAILED])
    done, total = 0, waiting.count()
    report_progress(job, done, total, "embedding")
    waiting = waiting.order_by("id")
    batch = list(waiting[:BATCH])
    while batch:
        done += _embed_batch(access, job, space, batch)
        # Their writes could not be compared by meaning; an edited one was compared when it was written.
        compare_embedded(access, [memory.pk for memory in batch if memory.version == 1])
        report_progress(job, min(done, total), total, "embedding")
        # By id, not "the next that wait": one edited meanwhile has a job of its own and must not be met for ever.
        batch = list(waiting.filter(id__gt=batch[-1].pk)[:BATCH])
    with transaction.atomic():
        finish_job(job)
    return done


def retry_failed(access: Access, job: Job, memory_ids: Collection[UUID]) -> bool:
    """Try once more to embed these, which had failed; whether they were really tried (CLN-10).

    What fails again is still ``failed`` afterwards. Nothing is tried without an embedder, or while it is away.
    Raises JobLost.
    """
    failed = Memory.objects.in_vault(access.vault_id).filter(pk__in=memory_ids, index_state=IndexState.FAILED)
    try:
        space = active_space(access.vault_id) if get_embedder() is not None else None
        if space is None:
            return False
        for memory in failed.order_by("id"):
            # One at a time: what the embedder refuses of one must not count against the others.
            try:
                _embed_batch(access, job, space, [memory])
            except ProviderError as error:
                if not error.permanent:
                    return False
    except (ProviderError, ModelUnavailable):
        return False
    return True


def watched(access: Access, asks: bool) -> AbstractContextManager[None]:
    """The error guard around what asks a remote embedder; what asks nobody says nothing about its health."""
    return guarded(access, GuardedService.EMBEDDER) if asks else nullcontext()


def _embed_batch(access: Access, job: Job, space: ActiveSpace, batch: Sequence[Memory]) -> int:
    readable, broken = open_batch(batch)
    with watched(access, not space.embedder.local and len(readable) > 0):
        vectors = vector_rows(space, readable)
    versions = {memory.pk: memory.version for memory in batch}
    with transaction.atomic():
        hold_job(job)
        hold_space(access.vault_id, space)
        unchanged = lock_unchanged(access, versions)
        Embedding.objects.filter(memory_id__in=unchanged, space_id=space.space_id).delete()
        Embedding.objects.bulk_create([row for row in vectors if row.memory_id in unchanged])
        ready = unchanged - set(broken)
        Memory.objects.filter(pk__in=ready).update(index_state=IndexState.READY)
        Memory.objects.filter(pk__in=broken).update(index_state=IndexState.FAILED)
    return len(ready) + len(broken)


def give_up(access: Access) -> int:
    """Mark what still waits as failed, when its job is dead; the clean-up's dry run then names it (MOD-42)."""
    waiting = Memory.objects.in_vault(access.vault_id).filter(index_state=IndexState.PENDING)
    return waiting.update(index_state=IndexState.FAILED)


def wake_waiting() -> int:
    """Give a job to every vault whose memories wait without one; how many. The hub's own sweep.

    A write counts on the job that waits already. When a worker takes that job before the write commits, it does not
    see the new memory, and nobody else would come. What a person cancelled stays cancelled until the next write.
    """
    waiting = Memory.objects.filter(vault_id=OuterRef("pk"), index_state=IndexState.PENDING)
    jobs = Job.objects.filter(vault_id=OuterRef("pk"), kind=JobKind.EMBED_MEMORIES)
    working = jobs.filter(state__in=[JobState.PENDING, JobState.RUNNING])
    latest = Subquery(jobs.order_by("-created_at").values("state")[:1])
    forgotten = Vault.objects.filter(Exists(waiting), ~Exists(working)).annotate(latest=latest)
    vaults = [vault.pk for vault in forgotten if vault.latest != JobState.CANCELLED]
    for vault_id in vaults:
        enqueue_job(vault_id, JobKind.EMBED_MEMORIES, dedupe_key="waiting")
    return len(vaults)
