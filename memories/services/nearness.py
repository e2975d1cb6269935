"""What says nearly the same as one memory, and what a person decides about it.

A decision goes the way of the review list: it is remembered with the pair, and what it changes is one changeset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import Q
from numpy.typing import NDArray

from banks.access import Access, KeyScope
from memories.models import DuplicatePair, Embedding, Memory
from memories.rules.calibration import own_cosine, reference_similarity
from memories.rules.differences import differences
from memories.rules.drafts import Resolution
from memories.rules.vocabulary import PairDecision, PairKind, PairState, Side
from memories.search.likeness import Resembling, nearest_memories
from memories.search.reading import get_memory, with_relations
from memories.services.comparing import COMPARED_CHARACTERS
from memories.services.contention import despite_deadlocks, lock_chains
from memories.services.context import WriteContext
from memories.services.duplicates import reopen_pair, resolve_pair
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.lib.errors import FieldError, Invalid

SHOWN = 5
#: On the reference scale; what is further away says something else.
_FLOOR = 0.6
#: Units of a long memory whose neighbours are looked for.
_UNITS = 4
_SETTLED = {PairState.NOT_DUPLICATE.value, PairState.KEPT_BOTH.value}


@dataclass(frozen=True, slots=True)
class NearMemory:
    """A memory that says nearly the same; ``similarity`` is on the reference scale, 0 to 1."""

    memory: Memory
    similarity: float


@dataclass(frozen=True, slots=True)
class Nearby:
    """The nearest first. ``has_vector`` is False where nothing could be compared; ``settled`` were judged before."""

    items: list[NearMemory]
    has_vector: bool
    settled: int = 0


def near_memories(access: Access, memory: Memory, limit: int = SHOWN) -> Nearby:
    """Live memories near one the caller has read, without those that were decided to be different things.

    Needs memories:read.
    """
    access.require(KeyScope.MEMORIES_READ)
    space = WriteContext(access, access.vault.config_version).space
    vectors = _vectors(access, memory, space.space_id) if space is not None else None
    if space is None or vectors is None:
        return Nearby([], has_vector=False)
    embedder = space.embedder
    asked = Resembling(space, vectors, own_cosine(embedder.name, embedder.model, _FLOOR))
    best: dict[UUID, float] = {}
    for other, cosine in (pair for found in nearest_memories(access, asked) for pair in found):
        best[other] = max(cosine, best.get(other, -1.0))
    best.pop(UUID(str(memory.pk)), None)
    settled = _settled(access, memory)
    living = with_relations(Memory.objects.visible_to(access).live()).filter(superseded_by=None)
    rows = living.in_bulk([key for key in best if key not in settled])
    ranked = sorted(rows.values(), key=lambda row: (-best[row.pk], row.pk))
    scale = embedder.name, embedder.model
    near = [NearMemory(row, reference_similarity(*scale, best[row.pk])) for row in ranked[:limit]]
    return Nearby(near, has_vector=True, settled=len(settled & set(best)))


@despite_deadlocks
def decide_near(
    access: Access, memory_id: str | UUID, other_id: str | UUID, stays: str | UUID | None = None
) -> DuplicatePair:
    """Decide about two memories, listed as a pair or not: ``stays`` replaces the other one, None says they differ.

    Gives the pair, which can be reopened. Needs memories:write. Raises NotFound, Invalid and what resolve_pair raises.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    with transaction.atomic():
        lock_chains(access.vault_id)
        pair = _pair_of(access, get_memory(access, memory_id), get_memory(access, other_id))
        if pair.state in _SETTLED:
            reopen_pair(access, pair.pk)
        if stays is None:
            return resolve_pair(access, pair.pk, Resolution(decision=PairDecision.NOT_DUPLICATE))
        keep = Side.OLDER if str(pair.older_id) == str(stays) else Side.NEWER
        return resolve_pair(access, pair.pk, Resolution(decision=PairDecision.SUPERSEDE, keep=keep))


def _pair_of(access: Access, one: Memory, other: Memory) -> DuplicatePair:
    if one.pk == other.pk:
        raise Invalid(errors=[FieldError("/other", "itself", "a memory is no duplicate of itself")])
    known = DuplicatePair.objects.filter(_between(one.pk, [other.pk]), vault_id=access.vault_id).first()
    if known is not None:
        return known
    older, newer = sorted((one, other), key=lambda row: (row.created_at, row.pk))
    return DuplicatePair.objects.create(
        vault_id=access.vault_id,
        older=older,
        newer=newer,
        similarity=_similarity(access, older, newer),
        kind=PairKind.NEAR.value,
        differences=_differences(older, newer),
    )


def _settled(access: Access, memory: Memory) -> set[UUID]:
    mine = Q(older=memory) | Q(newer=memory)
    rows = DuplicatePair.objects.filter(mine, vault_id=access.vault_id, state__in=_SETTLED)
    return {newer if older == memory.pk else older for older, newer in rows.values_list("older_id", "newer_id")}


def _between(one: Any, others: list[Any]) -> Q:
    return Q(older_id=one, newer_id__in=others) | Q(newer_id=one, older_id__in=others)


def _vectors(access: Access, memory: Memory, space_id: UUID) -> NDArray[np.float32] | None:
    rows = Embedding.objects.filter(vault_id=access.vault_id, memory=memory, space_id=space_id).order_by("unit")
    found = list(rows.values_list("vector", flat=True)[:_UNITS])
    return np.array(found, dtype=np.float32) if found else None


def _similarity(access: Access, one: Memory, other: Memory) -> float:
    """On the reference scale; 0 where there are no vectors to compare."""
    space = WriteContext(access, access.vault.config_version).space
    if space is None:
        return 0.0
    left, right = (_vectors(access, memory, space.space_id) for memory in (one, other))
    if left is None or right is None:
        return 0.0
    return reference_similarity(space.embedder.name, space.embedder.model, float((left @ right.T).max()))


def _differences(one: Memory, other: Memory) -> list[str]:
    try:
        return sorted(differences(one.content[:COMPARED_CHARACTERS], other.content[:COMPARED_CHARACTERS]))
    except (DecryptionError, UnknownKey):
        return []
