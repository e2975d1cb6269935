"""``search_memories``: legs → fusion → cut. Reads like a table of contents (API-06, SRC-01)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

import numpy as np
import structlog
from numpy.typing import NDArray

from banks.access import Access, KeyScope
from memories.index.spaces import ActiveSpace, active_space
from memories.models import Memory
from memories.models.effective import config_version, remembered_settings
from memories.rules.calibration import own_cosine
from memories.rules.filters import MemoryFilter, SearchMode, SearchQuery
from memories.rules.fusion import LegScore
from memories.rules.layers import check_request
from memories.rules.queryparts import QueryMistake
from memories.rules.summaries import summary_of
from memories.rules.tokens import estimate_tokens, fitting
from memories.rules.vocabulary import Trust
from memories.search.balanced import balanced
from memories.search.compiled import compiled
from memories.search.few import Few, list_few
from memories.search.filtering import failed
from memories.search.judging import judge
from memories.search.keywords import keyword_leg
from memories.search.meaning import Nearest, semantic_leg
from memories.search.opening import open_in_order
from memories.search.question import Asked, Found, Meaning
from memories.search.ranking import Ranking
from memories.search.seedprofile import seed
from memories.search.timing import note_stages
from memories.search.trace import Stage, Trace
from memoryhub.lib.blindindex import hash_query
from memoryhub.providers.base import ProviderError
from memoryhub.providers.questions import embed_question

log = structlog.get_logger(__name__)
_PROFILES: Mapping[str, Callable[[Asked, Found], Ranking]] = {"balanced": balanced, "seed": seed}


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory with its fused score; ``legs`` says what each leg found and added (SRC-16)."""

    memory: Memory
    score: float
    legs: Mapping[str, LegScore]


@dataclass
class SearchAnswer:
    """The hits, what was missing while answering, how many hits could not be opened, and the time it took.

    ``stages`` says what each stage took: understand, keyword, embed, semantic, pool, rank, model, read. ``cosines``
    holds the plain similarity of what the semantic leg found; ``mistakes`` what of ``q`` was left out.
    """

    hits: list[Hit] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    unreadable: int = 0
    took_ms: float = 0.0
    stages: list[Stage] = field(default_factory=list)
    cosines: Mapping[UUID, float] = field(default_factory=dict)
    mistakes: tuple[QueryMistake, ...] = ()


def search_memories(access: Access, query: SearchQuery) -> SearchAnswer:
    """The memories that answer ``query``, best first. Needs memories:read. Raises UnknownBank, SettingInvalid.

    Without vectors it answers from words alone and says so in ``degraded`` (DEG-01, DEG-02); so it does when a model
    was to re-rank and did not (OPT-05). Not inside a transaction where a model may be asked.
    """
    access.require(KeyScope.MEMORIES_READ)
    started = time.perf_counter()
    answer = SearchAnswer()
    asked = understand(access, query, answer)
    if asked is not None:
        ranking = judged(asked, rank(asked, ask_legs(asked, answer)), answer)
        broken: list[UUID] = []
        best = cut(asked, ranking, broken)
        whys = ranking.explain_all([place for place, _ in best])
        answer.hits = [Hit(memory, ranking.scores[place], why) for (place, memory), why in zip(best, whys, strict=True)]
        answer.unreadable = len(broken)
        asked.trace.mark("read", len(ranking.memories), len(answer.hits))
        answer.stages = asked.trace.stages
    answer.took_ms = round((time.perf_counter() - started) * 1000, 3)
    note_stages(access.vault_id, answer.took_ms, answer.stages)
    return answer


def understand(access: Access, query: SearchQuery, answer: SearchAnswer | None = None) -> Asked | None:
    """The question with the settings that hold for it; None when no memory can pass its filters."""
    trace, version = Trace(), config_version(access.vault_id)
    settings = {**remembered_settings(access, version), **check_request(query.settings)}
    filters = compiled(access, _wanted(query, settings), version)
    if answer is not None:
        answer.mistakes = filters.mistakes
    if filters.rows is None:
        return None
    trace.mark("understand", 1, 1)
    return Asked(access, query, settings, filters.rows, version, trace)


def rank(asked: Asked, found: Found) -> Ranking:
    """All that something speaks for, in the order of the profile."""
    ranking = _PROFILES[asked.settings["search_profile"]](asked, found)
    asked.trace.mark("rank", len(ranking.memories), len(ranking.memories))
    return ranking


def judged(asked: Asked, ranking: Ranking, answer: SearchAnswer) -> Ranking:
    """The ranking as a language model sees it, where the settings want one; without an answer it stands (OPT-05)."""
    if not asked.settings["use_llm_for_relevance"] or asked.query.mode == SearchMode.KEYWORD:
        return ranking
    judgement = judge(asked, ranking, answer.cosines)
    if judgement is None:
        answer.degraded.append("reranking")
        return ranking
    asked.trace.mark("model", len(ranking.memories), len(judgement))
    return ranking.led_by(judgement, "model")


def ask_legs(asked: Asked, answer: SearchAnswer) -> Found:
    """What each leg finds; what could not take part is noted in the answer."""
    access, limit = asked.access, asked.settings["candidate_limit"]
    words = asked.settings["keyword_index"]
    terms = hash_query(access.keys.index, asked.query.query) if words else []
    few = list_few(access, asked.rows)
    keyword = keyword_leg(access, asked.rows, terms, limit, few)
    asked.trace.mark("keyword", len(terms), len(keyword.found))
    return Found(tuple(terms), keyword, _meaning(asked, answer, few))


def failed_filters(access: Access, query: SearchQuery, memory_id: UUID) -> tuple[str, ...]:
    """The filters of the query, under the settings that hold for it, that a memory does not pass."""
    settings = {**remembered_settings(access, config_version(access.vault_id)), **check_request(query.settings)}
    return failed(access, _wanted(query, settings), memory_id)


def _wanted(query: SearchQuery, settings: Mapping[str, Any]) -> MemoryFilter:
    """Every filter, the vault's own floor of trust included."""
    return query.filters().model_copy(update={"min_trust": query.min_trust or Trust(settings["min_trust"])})


def _meaning(asked: Asked, answer: SearchAnswer, few: Few | None) -> Meaning | None:
    if asked.query.mode == SearchMode.KEYWORD:
        return None
    try:
        wanted = asked.settings["embeddings"]
        space = active_space(asked.access.vault_id, asked.version) if wanted else None
        if space is not None:
            (vector,) = space.checked(embed_question(space.embedder, asked.query.query))
            asked.trace.mark("embed", 1, 1)
            found = semantic_leg(asked.access, asked.rows, _nearest(space, asked, vector), few)
            asked.trace.mark("semantic", 1, len(found))
            answer.cosines = found
            return Meaning(found, space, vector)
    except ProviderError as error:
        log.warning("semantic_leg_skipped", vault_id=str(asked.access.vault_id), error=error.code)
    answer.degraded.append("embeddings")
    return None


def threshold_of(asked: Asked) -> float:
    """The least similarity of the semantic leg, on the reference scale."""
    given = asked.query.threshold
    return float(asked.settings["search_threshold"]) if given is None else given


def _nearest(space: ActiveSpace, asked: Asked, vector: NDArray[np.float32]) -> Nearest:
    floor = own_cosine(space.embedder.name, space.embedder.model, threshold_of(asked))
    return Nearest(space.space_id, vector, floor, asked.settings["candidate_limit"], space.has_graph)


def cut(asked: Asked, ranking: Ranking, broken: list[UUID]) -> list[tuple[int, Memory]]:
    """Place in the order and memory: the best ``top_k`` that can be opened, or as many as the budget holds.

    They are as they were at the moment asked for; the ids of those that do not open are added to ``broken``.
    """
    query = asked.query
    opened = open_in_order(asked.access, ranking.memories, query.top_k, broken, query.as_of)
    best: Iterator[tuple[int, Memory]] = islice(opened, query.most)
    if query.max_tokens is not None:
        best = fitting(best, lambda found: estimate_tokens(_shown(found[1], query)), query.max_tokens)
    return list(best)


def _shown(memory: Memory, query: SearchQuery) -> str:
    content: str = memory.content or ""
    return summary_of(content) if query.compact else content
