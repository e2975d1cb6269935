"""Room at a limit: the least needed memories are archived when new ones come in (PRN, CON-12, DEG-06).

Limits count live memories of one user (`max_total_memories`) and live facts of one namespace (`max_facts`). What is
pruned is archived in one changeset and can be brought back; protected memories, constraints and corrections stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import structlog
from django.db.models import BooleanField, Case, OuterRef, Subquery, Value, When
from django.db.models.functions import Coalesce
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.django import CosineDistance

from memories.models import Embedding, Memory
from memories.rules.pruning import RESERVED, how_many
from memories.rules.vocabulary import MemoryType
from memories.services.archiving import archive_many
from memories.services.changesets import open_changeset
from memories.services.context import WriteContext
from memories.services.preparing import Prepared
from memoryhub.lib.metrics import MEMORIES_PRUNED, PRUNING_SHORT

log = structlog.get_logger(__name__)
ACTION = "prune_memories"


def prune_memories(context: WriteContext, added: Sequence[Prepared]) -> int:
    """Archive what the limits leave no room for beside ``added``; how many. Costs nothing without limits."""
    settings = context.settings
    if settings["max_total_memories"] is None and settings["max_facts"] is None:
        return 0
    live = Memory.objects.in_vault(context.access.vault_id).live().filter(superseded_by=None)
    pruned = 0
    for user in {item.memory.user_id for item in added}:
        rows = live.filter(user_id=user) if user is not None else live.filter(user_id__isnull=True)
        pruned += _prune(context, rows, settings["max_total_memories"], added)
    for namespace in {tuple(item.memory.namespace) for item in added if item.memory.type == MemoryType.FACT}:
        rows = live.filter(namespace=list(namespace), type=MemoryType.FACT)
        pruned += _prune(context, rows, settings["max_facts"], added)
    return pruned


def _prune(context: WriteContext, rows: Any, limit: int | None, added: Sequence[Prepared]) -> int:
    wanted = 0 if limit is None else how_many(rows.count(), limit, context.settings["pruning_batch_size"])
    if not wanted:
        return 0
    strategy = context.settings["pruning_strategy"]
    free = rows.filter(is_protected=False).exclude(type__in=[kind.value for kind in RESERVED])
    free = free.annotate(is_new=_is_one_of(added)).order_by("is_new", *_order(context, strategy, added), "id")
    chosen = list(free.select_for_update(of=("self",), no_key=True)[:wanted])
    if chosen:
        reason = f"pruned: {strategy}"
        archive_many(context, chosen, open_changeset(context.access, ACTION, reason), reason)
        MEMORIES_PRUNED.labels(strategy).inc(len(chosen))
        log.info("memories_pruned", vault_id=str(context.access.vault_id), count=len(chosen), strategy=strategy)
    if len(chosen) < wanted:
        # A soft limit: what is left is protected or reserved, and the write is worth more than the number.
        PRUNING_SHORT.inc()
        log.warning("limit_not_kept", vault_id=str(context.access.vault_id), over_by=wanted - len(chosen))
    return len(chosen)


def _is_one_of(added: Sequence[Prepared]) -> Case:
    ids = [item.memory.pk for item in added]
    return Case(When(pk__in=ids, then=Value(True)), default=Value(False), output_field=BooleanField())


def _order(context: WriteContext, strategy: str, added: Sequence[Prepared]) -> list[Any]:
    """Least needed first. Never recalled counts as recalled when it was written (PRN-13)."""
    if strategy == "fifo":
        return ["created_at"]
    if strategy in {"oldest_accessed", "lru"}:
        return [Coalesce("last_accessed_at", "created_at")]
    about = _mean([item.vectors[0] for item in added if item.vectors is not None])
    if about is None or context.space is None:
        return ["importance", Coalesce("last_accessed_at", "created_at")]
    # What is written now is what the conversation is about; the farthest from it goes first, whatever its age.
    first = Embedding.objects.filter(memory_id=OuterRef("pk"), space_id=context.space.space_id, unit=0)
    far = first.annotate(far=CosineDistance("vector", HalfVector(about.tolist()))).values("far")[:1]
    return [Subquery(far).desc(nulls_last=True)]


def _mean(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32] | None:
    return np.mean(np.stack(vectors), axis=0, dtype=np.float32) if vectors else None
