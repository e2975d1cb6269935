"""What may be done with a clean-up plan: what its hash covers, the cap, and what still applies when its turn comes."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from memories.rules.cleanup import CleanupRule
from memories.rules.trust import may_supersede
from memories.rules.vocabulary import IndexState, Status, Trust

#: So many candidates are archived in one transaction.
BATCH = 500


class PlanState(StrEnum):
    """The life of a plan."""

    PLANNING = "planning"
    READY = "ready"
    APPLYING = "applying"
    APPLIED = "applied"
    UNDONE = "undone"
    FAILED = "failed"
    EXPIRED = "expired"


class Skipped(StrEnum):
    """Why a chosen candidate was left as it is when its turn came."""

    CHANGED = "changed"
    WAS_ARCHIVED = "was_archived"
    PROTECTED = "protected"
    INDEXED = "indexed"
    NOT_RETRIED = "not_retried"
    KEEPER_GONE = "keeper_gone"
    KEEPER_CHANGED = "keeper_changed"
    TRUST_TOO_LOW = "trust_too_low"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Chosen:
    """One candidate that is to be archived: the memory at a version, and the one that then stands for it.

    ``is_clustered``: it goes only because, or while, another one stands for it, at the version that was seen.
    """

    memory_id: UUID
    version: int
    successor_id: UUID | None = None
    is_clustered: bool = False
    successor_version: int | None = None


def hash_of(chosen: Iterable[Chosen]) -> str:
    """64 hexadecimal digits over what is chosen, whatever its order: what a person saw is what is applied."""
    lines = sorted(f"{one.memory_id} {one.version} {one.successor_id or ''}" for one in chosen)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def most_without_asking(live: int, share: float) -> int:
    """How many of ``live`` memories a plan may archive without a second confirmation; exactly the share is fine."""
    return int(live * share + 1e-9)


def is_expired(state: PlanState, created_at: dt.datetime, at: dt.datetime, days: int) -> bool:
    """Whether a plan nobody applied is too old to be; exactly so many days old it may still be applied."""
    return state == PlanState.READY and at - created_at > dt.timedelta(days=days)


def split_by_hand(
    rules: Iterable[CleanupRule], automatic: Collection[CleanupRule]
) -> tuple[tuple[CleanupRule, ...], tuple[CleanupRule, ...]]:
    """Of the rules of a schedule: those a vault has named to be applied by themselves, and those left to a person."""
    scheduled = [rule for rule in CleanupRule if rule in {*rules, *automatic}]
    return (
        tuple(rule for rule in scheduled if rule in automatic),
        tuple(rule for rule in scheduled if rule not in automatic),
    )


@dataclass(frozen=True, slots=True)
class Present:
    """A memory as it is when its turn comes."""

    version: int
    is_archived: bool
    is_protected: bool
    index_state: IndexState
    trust: Trust
    status: Status = Status.ACCEPTED
    is_superseded: bool = False
    expires_at: dt.datetime | None = None

    def stands(self, at: dt.datetime) -> bool:
        """Whether recall gives it out, so that it can stand for another (STA-09)."""
        expired = self.expires_at is not None and self.expires_at <= at
        return self.status == Status.ACCEPTED and not self.is_archived and not self.is_superseded and not expired


def why_skip(
    chosen: Chosen,
    reasons: Iterable[CleanupRule],
    there: Present | None,
    keeper: Present | None,
    at: dt.datetime,
) -> Skipped | None:
    """Why a candidate is not archived after all; None: it is. ``keeper`` is what is there of its successor, if any.

    Whatever the plan says, nothing changed since, nothing protected, and no cluster without a live survivor (CLN-10).
    """
    if there is None:
        return Skipped.GONE
    if there.is_archived:
        return Skipped.WAS_ARCHIVED
    if there.is_protected:
        return Skipped.PROTECTED
    if there.version != chosen.version:
        return Skipped.CHANGED
    if set(reasons) == {CleanupRule.FAILED_INDEXING} and there.index_state != IndexState.FAILED:
        return Skipped.INDEXED
    if not chosen.is_clustered:
        return None
    if keeper is None or not keeper.stands(at):
        return Skipped.KEEPER_GONE
    if keeper.version != chosen.successor_version:
        return Skipped.KEEPER_CHANGED
    return None if may_supersede(keeper.trust, there.trust) else Skipped.TRUST_TOO_LOW
