"""Which of several memories that say the same stays, and why; the others are all alike that one (DESIGN §6)."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from memories.rules.cleanup import CleanupRule
from memories.rules.trust import may_supersede
from memories.rules.vocabulary import Trust


class KeptFor(StrEnum):
    """What told the keeper from the next best, in the order in which it is asked."""

    PROTECTED = "protected"
    TRUST = "trust"
    IMPORTANCE = "importance"
    CONFIDENCE = "confidence"
    RECALLED = "recalled"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class Twin:
    """What decides whether a memory stands for others that say the same."""

    id: UUID
    trust: Trust
    importance: int
    confidence: int
    access_count: int
    created_at: dt.datetime
    protected: bool = False

    @property
    def rank(self) -> tuple[bool, int, int, int, int, dt.datetime, UUID]:
        """The better it is to keep, the greater; the criteria of ``KeptFor``, and the id so that two never tie."""
        return (
            self.protected,
            self.trust.rank,
            self.importance,
            self.confidence,
            self.access_count,
            self.created_at,
            self.id,
        )


class Likeness(NamedTuple):
    """Two memories that say the same, by one of the clustering rules; similarity 1 for equal texts."""

    one: UUID
    other: UUID
    rule: CleanupRule
    similarity: float = 1.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """A keeper, why it is the one, and those it stands for: each is alike the keeper itself."""

    keeper: UUID
    why: KeptFor
    others: tuple[Likeness, ...]


def clusters_of(likenesses: Iterable[Likeness], twins: Mapping[UUID, Twin]) -> list[Cluster]:
    """Disjoint clusters, the best keepers first. A memory is in one of them at most.

    Alike is not transitive: what is alike only another member stays, for the next plan to look at. Nothing protected
    goes, and nothing untrusted stands for what is believed more.
    """
    beside: dict[UUID, list[Likeness]] = defaultdict(list)
    for likeness in likenesses:
        if likeness.one in twins and likeness.other in twins and likeness.one != likeness.other:
            beside[likeness.one].append(likeness)
            beside[likeness.other].append(likeness._replace(one=likeness.other, other=likeness.one))
    taken: set[UUID] = set()
    found = []
    for keeper in sorted((twins[memory_id] for memory_id in beside), key=lambda twin: twin.rank, reverse=True):
        if keeper.id in taken:
            continue
        goes: dict[UUID, Likeness] = {}
        for likeness in beside[keeper.id]:
            other = twins[likeness.other]
            if other.id not in taken and not other.protected and may_supersede(keeper.trust, other.trust):
                goes.setdefault(other.id, likeness)
        if goes:
            best = max((twins[memory_id] for memory_id in goes), key=lambda twin: twin.rank)
            found.append(Cluster(keeper.id, why_kept(keeper, best), tuple(goes[one] for one in sorted(goes))))
            taken.update(goes, [keeper.id])
    return found


def why_kept(keeper: Twin, next_best: Twin) -> KeptFor:
    """The first criterion in which the keeper is ahead; the newest when all else is equal."""
    for criterion, ours, theirs in zip(KeptFor, keeper.rank, next_best.rank, strict=False):
        if ours != theirs:
            return criterion
    return KeptFor.NEWEST
