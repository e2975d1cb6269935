"""``explain_absence``: runs a search again and says where it lost one memory, or at which place it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from banks.access import Access, KeyScope
from memories.models import Memory
from memories.rules.absence import Evidence, LegEvidence, Verdict, verdict
from memories.rules.calibration import reference_similarity
from memories.rules.filters import AbsenceQuery
from memories.search.asof import as_they_were
from memories.search.candidates import Allowed, allowed
from memories.search.keywords import keyword_leg
from memories.search.meaning import Nearest, semantic_leg
from memories.search.opening import opens
from memories.search.question import Asked, Found, Meaning
from memories.search.ranking import Ranking
from memories.search.reading import get_memory
from memories.search.recall import SearchAnswer, ask_legs, cut, failed_filters, rank, threshold_of, understand

#: How far down a leg a rank is still counted.
COUNTED = 5_000


@dataclass(frozen=True, slots=True)
class Absence:
    """The verdict with its evidence; the scores are the memory's own and that of the last one given out."""

    memory: Memory
    verdict: Verdict
    evidence: Evidence
    score: float | None
    least_score: float | None
    degraded: list[str]


def explain_absence(access: Access, query: AbsenceQuery) -> Absence:
    """Why a memory is not in the answer to ``query``, or where in it. Needs memories:read.

    Raises NotFound, also for a memory that the caller may not see, and what a search raises.
    """
    access.require(KeyScope.MEMORIES_READ)
    memory = get_memory(access, query.id)
    answer = SearchAnswer()
    failed = failed_filters(access, query, memory.pk)
    asked = None if failed else understand(access, query, answer)
    if query.as_of is not None:
        as_they_were(access, [memory], query.as_of)
    if asked is None:
        evidence = _standing(memory, failed)
        return Absence(memory, verdict(evidence), evidence, None, None, answer.degraded)
    found = ask_legs(asked, answer)
    return _explained(asked, memory, found, rank(asked, found), answer)


def _standing(memory: Memory, failed: tuple[str, ...] = ()) -> Evidence:
    return Evidence(
        failed=failed,
        status=memory.status,
        is_archived=memory.archived_at is not None,
        is_superseded=memory.superseded_by_id is not None,
        index_state=memory.index_state,
    )


def _explained(asked: Asked, memory: Memory, found: Found, ranking: Ranking, answer: SearchAnswer) -> Absence:
    places = {memory_id: place for place, memory_id in enumerate(ranking.memories)}
    rank_ = places.get(memory.pk)
    given = [place for place, _ in cut(asked, ranking, [])]
    evidence = Evidence(
        status=memory.status,
        index_state=memory.index_state,
        is_readable=opens(memory),
        legs=_legs(asked, memory.pk, found),
        rank=None if rank_ is None else rank_ + 1,
        total=len(ranking.memories),
        place=given.index(rank_) + 1 if rank_ in given else None,
        top_k=asked.query.most,
        max_tokens=asked.query.max_tokens,
    )
    score = None if rank_ is None else ranking.scores[rank_]
    least = ranking.scores[given[-1]] if given else None
    return Absence(memory, verdict(evidence), evidence, score, least, answer.degraded)


def _legs(asked: Asked, memory_id: UUID, found: Found) -> dict[str, LegEvidence]:
    """What each leg that took part says of this one memory."""
    only = allowed(Memory.objects.in_vault(asked.access.vault_id).filter(pk=memory_id))
    legs: dict[str, LegEvidence] = {}
    if only is None:
        return legs
    limit = asked.settings["candidate_limit"]
    if found.terms:
        own = keyword_leg(asked.access, only, found.terms, 1).found.get(memory_id)
        rank_ = _rank(found.keyword.found, memory_id)
        if own is not None and rank_ is None:
            rank_ = _rank(keyword_leg(asked.access, asked.rows, found.terms, COUNTED).found, memory_id)
        legs["keyword"] = LegEvidence(own, rank_, limit)
    if found.meaning is not None:
        legs["semantic"] = _semantic(asked, memory_id, found.meaning, only)
    return legs


def _semantic(asked: Asked, memory_id: UUID, meaning: Meaning, only: Allowed) -> LegEvidence:
    """The cosine on the reference scale, on which thresholds are stated."""
    space, threshold = meaning.space, threshold_of(asked)

    def nearest(rows: Allowed, limit: int) -> Mapping[UUID, float]:
        wanted = Nearest(space.space_id, meaning.vector, -1.0, limit, space.has_graph)
        return semantic_leg(asked.access, rows, wanted)

    own, rank_ = nearest(only, 1).get(memory_id), _rank(meaning.found, memory_id)
    score = None if own is None else reference_similarity(space.embedder.name, space.embedder.model, own)
    if score is not None and score >= threshold and rank_ is None:
        rank_ = _rank(nearest(asked.rows, COUNTED), memory_id)
    return LegEvidence(score, rank_, asked.settings["candidate_limit"], threshold)


def _rank(found: Mapping[UUID, float], memory_id: UUID) -> int | None:
    return next((place for place, each in enumerate(found, 1) if each == memory_id), None)
