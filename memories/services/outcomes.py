"""What callers are told of each write."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from memories.models import Memory
from memories.rules.dedup import Decision
from memories.rules.vocabulary import Outcome


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What a write did (DUP-28): ``memory`` is the one that is there now, also for a duplicate.

    ``similarity`` is that to the memory named, on the reference scale; ``pair_id`` a pair that waits for review.
    """

    memory: Memory
    outcome: Outcome
    decided_by: str
    reason: str
    duplicate_of: UUID | None = None
    superseded_id: UUID | None = None
    similarity: float | None = None
    similar_to: UUID | None = None
    pair_id: UUID | None = None

    @classmethod
    def skipped(cls, twin: Memory, decision: Decision, reason: str) -> WriteResult:
        """Nothing was written, because the twin is there already."""
        similarity = decision.candidate.similarity if decision.candidate else 1.0
        twin_id = UUID(str(twin.pk))
        return cls(
            twin, Outcome.DUPLICATE, decision.decided_by, reason, twin_id, similarity=similarity, similar_to=twin_id
        )
