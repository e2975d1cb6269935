"""The similarity part of the dedup ladder: what becomes of a new memory beside those it resembles (CON-08, DUP-14…17).

Similarities are on the reference scale of `memories.rules.calibration`; all bounds are exclusive (DUP-22).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any
from uuid import UUID

from memories.rules.differences import FACTUAL
from memories.rules.vocabulary import Difference, MemoryType, PairKind


class Verdict(StrEnum):
    """What to do with the new memory."""

    ADD = "add"
    SKIP = "skip"
    SUPERSEDE = "supersede"
    REVIEW = "review"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Ladder:
    """Above ``skip`` a duplicate, above ``close`` worth a decision, above ``ask`` worth the checker's time."""

    skip: float
    close: float
    ask: float
    supersedes: bool = True
    has_checker: bool = False

    def listing(self) -> Ladder:
        """The same bounds for what a person decides alone: nothing is skipped, replaced or asked about (CON-16)."""
        return replace(self, skip=math.inf, supersedes=False, has_checker=False)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that is already there, beside the new one."""

    id: UUID
    similarity: float
    #: In what the texts differ.
    differences: frozenset[Difference] = frozenset()
    #: It says all that the new one would: as visible, as much believed, for at least as long.
    stands: bool = True
    #: The new one may take its place: equal fact key, same subject, unprotected, no constraint, believed no more.
    yields: bool = False


@dataclass(frozen=True, slots=True)
class Equal:
    """A live memory that says exactly what the new one does; ``is_seen``: the caller may know of it."""

    id: UUID
    bank_id: UUID
    is_seen: bool = True
    has_expired: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict, beside which candidate, who decided, and why in a sentence for people."""

    verdict: Verdict
    decided_by: str
    reason: str
    candidate: Candidate | None = None

    @property
    def kind(self) -> PairKind:
        """Why a person should look at the pair."""
        assert self.candidate is not None
        return kind_of(self.candidate.differences)


NOTHING_LIKE_IT = Decision(Verdict.ADD, "no_match", "Nothing similar enough was there.")


def ladder_of(settings: Mapping[str, Any], *, has_checker: bool = False) -> Ladder:
    """The rungs a vault or bank has set."""
    return Ladder(
        skip=settings["dedup_skip_threshold"],
        close=settings["dedup_supersede_threshold"],
        ask=settings["similarity_threshold"],
        supersedes=settings["dedup_supersede"],
        has_checker=has_checker,
    )


def text_ladder(settings: Mapping[str, Any]) -> Ladder:
    """The rungs for likeness in characters, where there are no vectors: 0.95 itself is a duplicate (DUP-17)."""
    bound = settings["text_similarity_threshold"] - 1e-9
    return Ladder(skip=bound, close=bound, ask=bound, supersedes=settings["dedup_supersede"])


def decide(candidates: Sequence[Candidate], ladder: Ladder, measure: str = "similarity") -> Decision:
    """What becomes of a new memory; ``measure`` names what was compared, for ``decided_by``.

    A pair that differs in any way is never skipped. What is close is never dropped: it is added and a person decides,
    unless an equal fact key says that the new one is the old one's next version.
    """
    by_likeness = sorted(candidates, key=lambda one: (-one.similarity, one.id))
    for one in by_likeness:
        if one.similarity > ladder.skip and not one.differences and one.stands:
            return Decision(Verdict.SKIP, measure, "A memory that says the same is already there.", one)
    near = [one for one in by_likeness if one.similarity > ladder.ask]
    if not near:
        return NOTHING_LIKE_IT
    if ladder.has_checker:
        return Decision(Verdict.ASK, "update_checker", f"{_beside(near[0])} The update checker decides.", near[0])
    close = [one for one in near if one.similarity > ladder.close]
    if not close:
        return NOTHING_LIKE_IT
    if ladder.supersedes:
        for one in close:
            if one.yields:
                reason = "A close memory with the same fact key was there; this is its newer version."
                return Decision(Verdict.SUPERSEDE, "fact_key", reason, one)
    return Decision(Verdict.REVIEW, measure, f"{_beside(close[0])} Both are kept; the pair waits for review.", close[0])


def among_equals(equals: Sequence[Equal], bank_id: UUID) -> tuple[UUID | None, list[UUID]]:
    """Which one a new memory of that bank is a duplicate of, else which make room because their time is over.

    What the caller may not know of decides nothing and stays as it is, so that no answer confirms a guess (BNK-02).
    Of several the one in the same bank counts, then the oldest.
    """
    seen = sorted((one for one in equals if one.is_seen), key=lambda one: (one.bank_id != bank_id, one.id))
    standing = [one.id for one in seen if not one.has_expired]
    return (standing[0], []) if standing else (None, [one.id for one in seen])


def may_yield(old_type: str, old_key: str | None, new_key: str | None, *, is_protected: bool) -> bool:
    """Whether labels allow a new memory of the same type to replace an old one by itself (DEF-17, SUP-08)."""
    return bool(old_key) and old_key == new_key and not is_protected and old_type != MemoryType.CONSTRAINT


def kind_of(differences: frozenset[Difference]) -> PairKind:
    """What the pair looks like: the same thing twice, a fact that changed or is denied, or two different things."""
    if not differences:
        return PairKind.DUPLICATE
    if differences & {Difference.NAME, Difference.IDENTIFIER}:
        return PairKind.NEAR
    return PairKind.CONTRADICTION if differences & FACTUAL else PairKind.NEAR


def _beside(one: Candidate) -> str:
    if not one.differences:
        return "A close memory was there."
    return f"A close memory was there that differs in {_listed(sorted(one.differences))}."


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
