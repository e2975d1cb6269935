"""What a bank keeps: which memories its policy archives, and which archived or discarded ones it may purge (PRN-14).

Archiving can be undone; purging erases. So nothing is purged while it can still be undone (CON-17).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from memories.rules.pruning import RESERVED
from memories.rules.vocabulary import MemoryCategory, MemoryType

#: What was archived or discarded more recently than this is never purged, whatever a policy says.
LEAST_PURGED = dt.timedelta(days=30)


class RetentionReason(StrEnum):
    """Why a policy archives a memory."""

    AGE = "age"
    INACTIVE = "inactive"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """What a bank keeps; None means no such limit. Without types, constraints and corrections are kept."""

    enabled: bool = False
    max_age: dt.timedelta | None = None
    inactive_for: dt.timedelta | None = None
    max_memories: int | None = None
    types: frozenset[MemoryType] | None = None
    categories: frozenset[MemoryCategory] | None = None
    purge_discarded: dt.timedelta | None = None
    purge_archived: dt.timedelta | None = None


@dataclass(frozen=True, slots=True)
class Holding:
    """What a policy looks at. ``needed_at``: when it was last recalled or changed."""

    id: UUID
    type: MemoryType
    category: MemoryCategory | None
    created_at: dt.datetime
    needed_at: dt.datetime
    is_protected: bool


def concerns(policy: RetentionPolicy, one: Holding) -> bool:
    """Whether a policy may archive a memory at all: never a protected one, and only the kinds it names."""
    if one.is_protected:
        return False
    kind = one.type not in RESERVED if policy.types is None else one.type in policy.types
    return kind and (policy.categories is None or one.category in policy.categories)


def to_archive(policy: RetentionPolicy, held: Sequence[Holding], at: dt.datetime) -> dict[UUID, RetentionReason]:
    """Memory → why it is archived, for everything that lives in one bank; empty for a policy that is off.

    A memory that is neither too old nor unused can still be too many: the least recently needed go first.
    """
    if not policy.enabled:
        return {}
    mine = [one for one in held if concerns(policy, one)]
    reasons = {one.id: reason for one in mine if (reason := _outlived(policy, one, at)) is not None}
    if policy.max_memories is not None:
        left = sorted((one for one in mine if one.id not in reasons), key=lambda one: (one.needed_at, one.id))
        surplus = max(0, len(left) - policy.max_memories)
        reasons |= {one.id: RetentionReason.COUNT for one in left[:surplus]}
    return reasons


def _outlived(policy: RetentionPolicy, one: Holding, at: dt.datetime) -> RetentionReason | None:
    if policy.max_age is not None and at - one.created_at > policy.max_age:
        return RetentionReason.AGE
    if policy.inactive_for is not None and at - one.needed_at > policy.inactive_for:
        return RetentionReason.INACTIVE
    return None


def purged_before(policy: RetentionPolicy, after: dt.timedelta | None, at: dt.datetime) -> dt.datetime | None:
    """The moment before which something must have been put away to be purged; None while nothing is."""
    return at - max(after, LEAST_PURGED) if policy.enabled and after is not None else None
