"""Move a vault to another embedding space: filled beside the one that is searched, then switched (DEG-13, MIG-12).

Searches and writes stay in the old space until one commit moves the vault. Whoever writes vectors holds the space it
writes into, so the switch waits for the last of them, takes over what is still missing, and the next write meets the
new space. What is to be done is read from the rows: a worker that dies leaves nothing undone and nothing done twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from banks.access import Access
from banks.services.audit import Audited, record_audit
from memories.index.graphs import GRAPH_FROM, build_graph, needs_graph
from memories.index.indexing import vector_rows
from memories.index.spaces import ActiveSpace, name_of, space_name, space_of, wanted_space
from memories.jobs import JobKind
from memories.models import Embedding, Job, Memory, MigrationRecord, VaultSpace
from memories.models.memory import MemoryQuerySet
from memories.rules.datamigrations import SpaceName, target_of
from memories.rules.vocabulary import IndexState
from memories.services.batches import lock_unchanged, open_batch
from memories.services.contention import despite_deadlocks
from memories.services.context import WriteContext
from memories.services.datamigrations import begin_migration, end_migration, note_rows
from memories.services.embedding import NoSpace, watched
from memories.services.jobs import enqueue_job, finish_job, hold_job, report_progress
from memories.services.upkeep import READ_UNTIL
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, FieldError, Invalid
from memoryhub.providers.base import Embedder
from memoryhub.providers.registry import known_embedders

LOCAL_BATCH, REMOTE_BATCH = 1_000, 64
#: So many may be missing when the vault is switched: they are embedded while writers wait, or by a job at once after.
CAUGHT_UP = 256
ROUNDS = 50


class NoTarget(Invalid):
    """There is no space to move to: the vault is in the configured one. Name another one."""

    code = "no_target"


class NeverCaughtUp(Conflict):
    """Memories are written faster than they are embedded; what was done is kept, start it again later."""

    code = "never_caught_up"


@dataclass
class _Move:
    """One attempt: where to, and what cannot come along because it does not open."""

    access: Access
    job: Job
    place: VaultSpace
    target: ActiveSpace
    total: int = 0
    done: int = 0
    broken: set[UUID] = field(default_factory=set)

    @property
    def missing(self) -> MemoryQuerySet:
        """Memories without a vector in the new space, in the order of their ids."""
        there = Embedding.objects.filter(memory_id=OuterRef("pk"), space_id=self.target.space_id)
        return Memory.objects.in_vault(self.access.vault_id).filter(~Exists(there)).order_by("id")


def active_name(access: Access) -> SpaceName | None:
    """The space the vault is searched in; None before its first vector."""
    place = VaultSpace.objects.select_related("space").filter(vault_id=access.vault_id, is_active=True).first()
    return space_name(place.space) if place is not None else None


def start_reembed(access: Access, asked: str | None = None) -> MigrationRecord:
    """Begin to move the vault to the space asked for, or to the one configured; in the running transaction.

    Raises NoTarget naming the spaces there are, MigrationRunning.
    """
    if not WriteContext.of(access).wants_vectors:
        raise NoTarget("This vault has no embeddings; switch the setting `embeddings` on, or configure an embedder.")
    known = [name_of(embedder) for embedder in known_embedders()]
    target = target_of(asked, known, wanted_space(active_name(access)))
    if target is None:
        names = ", ".join(dict.fromkeys(map(str, known)))
        errors = [FieldError("/target", "no_target", f"is one of {names}")]
        raise NoTarget(
            f"Name the space to move to, one of: {names}. The vault is in {active_name(access)}.", errors=errors
        )
    about = "Vectors of another embedder are made beside those that are searched; then the vault is switched."
    return begin_migration(access, JobKind.REEMBED_MEMORIES, str(target), about)


def reembed_memories(access: Access, job: Job) -> int:
    """Fill the new space, build its index where the vault is large, switch, and finish the job; how many memories.

    Raises JobLost, GraphsBusy, NoSpace when the embedder is not configured any more, ProviderError, ModelUnavailable.
    """
    move = _prepared(access, job)
    if not move.place.is_active:
        _fill(move)
        if needs_graph(move.place):
            report_progress(job, move.done, move.total, "building the vector index")
            build_graph(move.place)
            move.place.refresh_from_db()
    for _ in range(ROUNDS):
        if _switch(move):
            return move.done
        _fill(move)
    raise NeverCaughtUp


def _prepared(access: Access, job: Job) -> _Move:
    record = MigrationRecord.objects.get(vault_id=access.vault_id, pk=job.ref["migration"])
    named = [one for one in known_embedders() if str(name_of(one)) == record.name]
    if not named:
        raise NoSpace(
            f"No embedder for {record.name} is configured any more; configure it and try again.", permanent=True
        )
    embedder: Embedder = named[0]
    with watched(access, not embedder.knows_dimensions):
        space_id = space_of(embedder)
    place = _beside(access, space_id)
    move = _Move(access, job, place, ActiveSpace(space_id, embedder, place.has_graph, place.space.dimensions))
    move.total = move.missing.count()
    report_progress(job, 0, move.total, "embedding")
    note_rows(job, 0, move.total)
    return move


def _beside(access: Access, space_id: UUID) -> VaultSpace:
    """The vault's place in the new space; places it was moving to before are left."""
    with transaction.atomic():
        others = VaultSpace.objects.filter(vault_id=access.vault_id, is_active=False, retired_at=None)
        others.exclude(space_id=space_id).update(retired_at=now())
        place, _ = VaultSpace.objects.get_or_create(
            vault_id=access.vault_id, space_id=space_id, defaults={"is_active": False}
        )
        if place.retired_at is not None:
            VaultSpace.objects.filter(pk=place.pk).update(retired_at=None)
    return VaultSpace.objects.select_related("space").get(pk=place.pk)


def _fill(move: _Move) -> None:
    """Embed what is missing, from the first id to the last, a commit for each batch."""
    size = LOCAL_BATCH if move.target.embedder.local else REMOTE_BATCH
    columns = ("id", "vault_id", "content", "version")
    # In a vault that will get an index, its rows need not be touched again to come into it.
    in_tail = (
        move.place.has_graph or Memory.objects.in_vault(move.access.vault_id)[: GRAPH_FROM + 1].count() <= GRAPH_FROM
    )
    batch = list(move.missing.only(*columns)[:size])
    while batch:
        _embed_batch(move, batch, in_tail)
        move.total = max(move.total, move.done)
        report_progress(move.job, move.done, move.total, "embedding")
        batch = list(move.missing.only(*columns).filter(id__gt=batch[-1].pk)[:size])


@despite_deadlocks
def _embed_batch(move: _Move, batch: Sequence[Memory], in_tail: bool) -> None:
    readable, broken = open_batch(batch)
    move.broken.update(broken)
    with watched(move.access, not move.target.embedder.local and len(readable) > 0):
        rows = vector_rows(move.target, readable)
    versions = {item.memory.pk: int(item.memory.version) for item in readable}
    with transaction.atomic():
        hold_job(move.job)
        unchanged = lock_unchanged(move.access, versions)
        insert_rows([_placed(row, in_tail) for row in rows if row.memory_id in unchanged])
        note_rows(move.job, len(unchanged))
    move.done += len(unchanged)


def _placed(row: Embedding, in_tail: bool) -> Embedding:
    row.in_tail = in_tail
    return row


def _switch(move: _Move) -> bool:
    """Move the vault in one commit, with whatever is still missing; False when that is too much to let writers wait."""
    access, target = move.access, move.target
    with transaction.atomic():
        hold_job(move.job)
        # Waits for everybody who writes vectors in the old space; who comes later finds the new one.
        places = list(VaultSpace.objects.select_for_update().filter(vault_id=access.vault_id).order_by("pk"))
        late = list(move.missing.exclude(pk__in=move.broken)[: CAUGHT_UP + 1])
        if len(late) > CAUGHT_UP:
            return False
        _take_over(move, late)
        for place in places:
            if place.is_active and place.pk != move.place.pk:
                VaultSpace.objects.filter(pk=place.pk).update(is_active=False, retired_at=now())
                enqueue_job(access.vault_id, JobKind.KEEP_INDEX, dedupe_key="left", due=now() + 2 * READ_UNTIL)
        VaultSpace.objects.filter(pk=move.place.pk).update(is_active=True, retired_at=None)
        there = Exists(Embedding.objects.filter(memory_id=OuterRef("pk"), space_id=target.space_id))
        unready = Memory.objects.in_vault(access.vault_id).filter(~Q(index_state=IndexState.READY))
        unready.filter(there).update(index_state=IndexState.READY)
        Memory.objects.in_vault(access.vault_id).filter(pk__in=move.broken).update(index_state=IndexState.FAILED)
        finish_job(move.job)
        left = f"{len(move.broken)} memories do not open and have no vector now." if move.broken else ""
        end_migration(move.job, left)
        record_audit(access, Audited("reembed_memories", "space", target.space_id))
    return True


def _take_over(move: _Move, late: Sequence[Memory]) -> None:
    """What came while the rest was filled: a local embedder is quick enough, for a remote one it waits like a write."""
    if not late:
        return
    if move.target.embedder.local:
        readable, broken = open_batch(late)
        move.broken.update(broken)
        insert_rows(vector_rows(move.target, readable))
        note_rows(move.job, len(readable))
        move.done += len(readable)
    else:
        waiting = Memory.objects.in_vault(move.access.vault_id).filter(pk__in=[memory.pk for memory in late])
        waiting.update(index_state=IndexState.PENDING)
        enqueue_job(move.access.vault_id, JobKind.EMBED_MEMORIES, dedupe_key="waiting")
