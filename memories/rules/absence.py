"""Why a memory is not in an answer: the first stage of a search that stopped it, decided from numbers. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from memories.rules.vocabulary import IndexState, Status

_FILTERS_SAID = {"q": "q (the words and conditions)", "created": "created_after or created_before"}


class Stage(StrEnum):
    """Where it stopped, in the order of a search; ``in_answer`` when nothing stopped it."""

    NOT_YET_WRITTEN = "not_yet_written"
    DRAFT = "draft"
    DISCARDED = "discarded"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    EXPIRED = "expired"
    MIN_TRUST = "min_trust"
    FILTER = "filter"
    NOT_INDEXED = "not_indexed"
    NO_COMMON_WORD = "no_common_word"
    BELOW_THRESHOLD = "below_threshold"
    NOT_A_CANDIDATE = "not_a_candidate"
    NOTHING_SPEAKS_FOR_IT = "nothing_speaks_for_it"
    UNREADABLE = "unreadable"
    OUTSIDE_TOP_K = "outside_top_k"
    TOKEN_BUDGET = "token_budget"
    IN_ANSWER = "in_answer"


@dataclass(frozen=True, slots=True)
class LegEvidence:
    """What one leg says of the memory: its score, its rank in the leg (None: below the floor, or too far down to be
    counted), and how many candidates the leg may give. A ``threshold`` is on the scale of the score.
    """

    score: float | None
    rank: int | None
    limit: int
    threshold: float | None = None

    @property
    def passes(self) -> bool:
        """Whether the leg could have given it."""
        return self.score is not None and (self.threshold is None or self.score >= self.threshold)

    @property
    def is_beyond(self) -> bool:
        """Whether the leg has it, but further down than it gives candidates."""
        return self.passes and (self.rank is None or self.rank > self.limit)


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of one memory in one search. ``legs`` holds those that took part; ``rank`` and ``total`` are
    of the whole order, ``place`` of what was given out.
    """

    failed: tuple[str, ...] = ()
    status: str = Status.ACCEPTED.value
    is_archived: bool = False
    is_superseded: bool = False
    index_state: str = IndexState.READY.value
    is_readable: bool = True
    legs: Mapping[str, LegEvidence] = field(default_factory=dict)
    rank: int | None = None
    total: int = 0
    place: int | None = None
    top_k: int = 10
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The stage, and a sentence for people with the numbers that decided."""

    stage: Stage
    reason: str


def verdict(known: Evidence) -> Verdict:
    """The first stage that stopped the memory."""
    if known.failed:
        return _filtered(known)
    if known.place is not None:
        return Verdict(Stage.IN_ANSWER, f"It is in the answer, at place {known.place}.")
    if known.rank is not None:
        return _ranked(known)
    return _not_ranked(known)


def _filtered(known: Evidence) -> Verdict:
    if "as_of" in known.failed:
        return Verdict(Stage.NOT_YET_WRITTEN, "At that moment it had not been written yet.")
    if "status" in known.failed and known.status == Status.DRAFT:
        return Verdict(Stage.DRAFT, "It is a draft: a person has to accept it first, or the search to ask for drafts.")
    if "status" in known.failed and known.status == Status.DISCARD:
        return Verdict(Stage.DISCARDED, "It was discarded in review.")
    if "archived" in known.failed and known.is_superseded:
        return Verdict(Stage.SUPERSEDED, "A newer memory replaced it; include_archived shows it all the same.")
    if "archived" in known.failed and known.is_archived:
        return Verdict(Stage.ARCHIVED, "It is archived; include_archived shows it all the same.")
    if "archived" in known.failed:
        return Verdict(Stage.EXPIRED, "It has expired; include_archived shows it all the same.")
    if "min_trust" in known.failed:
        return Verdict(Stage.MIN_TRUST, "It is trusted less than the search, or the vault's settings, ask for.")
    names = ", ".join(_FILTERS_SAID.get(name, name) for name in known.failed)
    return Verdict(Stage.FILTER, f"It does not pass: {names}.")


def _ranked(known: Evidence) -> Verdict:
    if not known.is_readable:
        return Verdict(Stage.UNREADABLE, "It was found, but its text cannot be opened.")
    if known.max_tokens is not None and known.rank is not None and known.rank <= known.top_k:
        reason = (
            f"It ranks {known.rank} of {known.total}, but does not fit into {known.max_tokens} tokens with those above."
        )
        return Verdict(Stage.TOKEN_BUDGET, reason)
    reason = f"It ranks {known.rank} of {known.total}; the answer holds the first {known.top_k}."
    return Verdict(Stage.OUTSIDE_TOP_K, reason)


def _not_ranked(known: Evidence) -> Verdict:
    beyond = {name: leg for name, leg in known.legs.items() if leg.is_beyond}
    if beyond:
        told = " and ".join(f"{_place(leg)} by {_BY.get(name, name)}" for name, leg in beyond.items())
        return Verdict(Stage.NOT_A_CANDIDATE, f"It comes {told}; only the first {_limit(beyond)} are looked at.")
    if any(leg.passes for leg in known.legs.values()):
        return Verdict(Stage.NOTHING_SPEAKS_FOR_IT, "It was looked at, but nothing in its score speaks for it.")
    meaning = known.legs.get("semantic")
    if meaning is not None and meaning.score is not None:
        compared = f"{meaning.score:.2f} < {meaning.threshold or 0:.2f}"
        told = f"Its meaning is too far away ({compared}), and it shares no word with the question."
        return Verdict(Stage.BELOW_THRESHOLD, told)
    if known.index_state in {IndexState.PENDING, IndexState.FAILED}:
        told = "has not been indexed yet" if known.index_state == IndexState.PENDING else "could not be indexed"
        return Verdict(Stage.NOT_INDEXED, f"Its meaning {told}, and it shares no word with the question.")
    if not known.legs:
        return Verdict(Stage.NOT_INDEXED, "This search looked neither for words nor for meaning.")
    return Verdict(Stage.NO_COMMON_WORD, "It shares no word with the question, and meaning was not compared.")


_BY = {"keyword": "its words", "semantic": "its meaning"}


def _place(leg: LegEvidence) -> str:
    return f"number {leg.rank}" if leg.rank is not None else "too far down"


def _limit(legs: Mapping[str, LegEvidence]) -> int:
    return max(leg.limit for leg in legs.values())
