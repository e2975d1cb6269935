"""Memories that say the same: found for a clean-up, nothing is changed (CLN, DESIGN §6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import batched, pairwise
from typing import Any
from uuid import UUID

from banks.access import Access
from memories.models import DuplicatePair, Memory
from memories.models.memory import MemoryQuerySet
from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupclusters import Likeness, Twin
from memories.rules.differences import FACTUAL
from memories.rules.vocabulary import MemoryType, PairState, Trust
from memories.services.context import WriteContext
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import DecryptionError, UnknownKey

#: Texts that are opened and compared at most, the newest first; each costs some 20 µs.
OPENED_MAX = 200_000
PAIRS_MAX = 100_000
FETCHED = 5_000
_SCOPE = ("type", "user_id", "namespace", "scope", "dedup_agent")


def find_likenesses(access: Access, rules: Iterable[CleanupRule], near_from: float) -> list[Likeness]:
    """Pairs of memories in recall that say the same, by the clustering rules among ``rules``."""
    asked, found = set(rules), []
    if CleanupRule.EXACT_DUPLICATE in asked:
        found += _exact(access)
    if CleanupRule.NEAR_DUPLICATE in asked:
        found += _near(access, near_from)
    return found


def twins_of(access: Access, likenesses: Iterable[Likeness]) -> dict[UUID, Twin]:
    """What decides which of them stays; only of memories that the caller sees and recall gives out."""
    ids = {end for likeness in likenesses for end in (likeness.one, likeness.other)}
    columns = ("id", "trust", "importance", "confidence", "access_count", "created_at", "is_protected")
    found = {}
    for part in batched(sorted(ids), FETCHED):
        for memory_id, trust, *rest in _standing(access).filter(pk__in=part).values_list(*columns):
            found[memory_id] = Twin(memory_id, Trust(trust), *rest)
    return found


def _standing(access: Access) -> MemoryQuerySet:
    return Memory.objects.visible_to(access).recallable(now())


def _exact(access: Access) -> list[Likeness]:
    """Equal texts. One of two was always written without deduplication: where it is on, there is no second."""
    context, groups = WriteContext.of(access), defaultdict[tuple[Any, ...], list[UUID]](list)
    unhashed = _standing(access).filter(content_hash=None).order_by("-created_at", "-id")
    for memory in unhashed.only("id", "vault_id", "content", *_SCOPE)[:OPENED_MAX].iterator(FETCHED):
        try:
            groups[_place(context.content_hash(memory.content), memory)].append(memory.pk)
        except (DecryptionError, UnknownKey):
            continue  # what cannot be opened is like nothing
    for part in batched({place[0] for place in groups}, FETCHED):
        hashed = _standing(access).filter(content_hash__in=part)
        for memory in hashed.only("id", "vault_id", "content_hash", *_SCOPE):
            groups[_place(bytes(memory.content_hash or b""), memory)].append(memory.pk)
    return [
        Likeness(one, other, CleanupRule.EXACT_DUPLICATE)
        for group in groups.values()
        for one, other in _everybody_beside(group)
    ]


def _place(fingerprint: bytes, memory: Memory) -> tuple[Any, ...]:
    """What two memories share when they compete for one place (CON-08)."""
    return (
        fingerprint,
        *(tuple(value) if isinstance(value := getattr(memory, name), list) else value for name in _SCOPE),
    )


def _everybody_beside(group: list[UUID]) -> Iterable[tuple[UUID, UUID]]:
    """Each with each in small groups; in large ones each with its neighbours, for the pairs grow with the square."""
    if len(group) > 50:
        return pairwise(group)
    return [(one, other) for place, one in enumerate(group) for other in group[:place]]


def _near(access: Access, near_from: float) -> list[Likeness]:
    """What the write found close and left to a person, unless a fact differs; constraints never go by likeness."""
    seen = _standing(access).exclude(type=MemoryType.CONSTRAINT).values("pk")
    pairs = DuplicatePair.objects.filter(
        vault_id=access.vault_id,
        state=PairState.OPEN.value,
        similarity__gte=near_from,
        older__in=seen,
        newer__in=seen,
    ).exclude(differences__overlap=[difference.value for difference in FACTUAL])
    rows = pairs.order_by("-created_at", "-id").values_list("older_id", "newer_id", "similarity")
    return [Likeness(older, newer, CleanupRule.NEAR_DUPLICATE, like) for older, newer, like in rows[:PAIRS_MAX]]
