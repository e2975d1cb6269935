"""``search_memories``: legs → fusion → cut. Reads like a table of contents (API-06, SRC-01)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from banks.access import Access, KeyScope
from memories.index.spaces import ActiveSpace, active_space
from memories.models import Memory
from memories.models.effective import config_version, remembered_settings
from memories.rules.calibration import own_cosine
from memories.rules.filters import SearchQuery
from memories.rules.fusion import LegScore
from memories.rules.vocabulary import Trust
from memories.search.balanced import balanced
from memories.search.candidates import Allowed, allowed
from memories.search.filtering import matching
from memories.search.keywords import keyword_leg
from memories.search.meaning import Nearest, semantic_leg
from memories.search.question import Asked, Found, Meaning
from memories.search.ranking import Ranking
from memories.search.reading import with_relations
from memories.search.seedprofile import seed
from memoryhub.lib.blindindex import hash_query
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.providers.base import ProviderError

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
    """The hits, what was missing while answering, how many hits could not be opened, and the time it took."""

    hits: list[Hit] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    unreadable: int = 0
    took_ms: float = 0.0


def search_memories(access: Access, query: SearchQuery) -> SearchAnswer:
    """The memories that answer ``query``, best first. Needs memories:read. Raises UnknownBank.

    Without vectors it answers from words alone and says so in ``degraded`` (DEG-01, DEG-02).
    """
    access.require(KeyScope.MEMORIES_READ)
    started = time.perf_counter()
    answer = SearchAnswer()
    asked = understand(access, query)
    if asked is not None:
        ranking = _PROFILES[asked.settings["search_profile"]](asked, ask_legs(asked, answer))
        answer.hits = _cut(access, ranking, query.top_k, answer)
    answer.took_ms = round((time.perf_counter() - started) * 1000, 3)
    return answer


def understand(access: Access, query: SearchQuery) -> Asked | None:
    """The question with the settings that hold for it; None when no memory can pass its filters."""
    version = config_version(access.vault_id)
    settings = remembered_settings(access, version)
    rows = _allowed(access, query, settings)
    return None if rows is None else Asked(access, query, settings, rows, version)


def ask_legs(asked: Asked, answer: SearchAnswer) -> Found:
    """What each leg finds; what could not take part is noted in the answer."""
    access, limit = asked.access, asked.settings["candidate_limit"]
    words = asked.settings["keyword_index"]
    terms = hash_query(access.keys.index, asked.query.query) if words else []
    keyword = keyword_leg(access, asked.rows, terms, limit)
    return Found(tuple(terms), keyword, _meaning(asked, answer))


def _allowed(access: Access, query: SearchQuery, settings: Mapping[str, Any]) -> Allowed | None:
    """Every filter as SQL, the vault's own floor of trust included."""
    floor = query.min_trust or Trust(settings["min_trust"])
    wanted = query.filters().model_copy(update={"min_trust": floor})
    return allowed(matching(access, wanted))


def _meaning(asked: Asked, answer: SearchAnswer) -> Meaning | None:
    try:
        wanted = asked.settings["embeddings"]
        space = active_space(asked.access.vault_id, asked.version) if wanted else None
        if space is not None:
            (vector,) = space.embedder.embed([asked.query.query])
            found = semantic_leg(asked.access, asked.rows, _nearest(space, asked, vector.tolist()))
            return Meaning(found, space, vector)
    except ProviderError as error:
        log.warning("semantic_leg_skipped", vault_id=str(asked.access.vault_id), error=error.code)
    answer.degraded.append("embeddings")
    return None


def _nearest(space: ActiveSpace, asked: Asked, vector: Sequence[float]) -> Nearest:
    given = asked.query.threshold
    threshold = asked.settings["search_threshold"] if given is None else given
    floor = own_cosine(space.embedder.name, space.embedder.model, threshold)
    return Nearest(space.space_id, vector, floor, asked.settings["candidate_limit"], space.has_graph)


def _cut(access: Access, ranking: Ranking, top_k: int, answer: SearchAnswer) -> list[Hit]:
    """The best ``top_k`` that can be opened; one broken row costs itself, not the search (ENC-20, DEF-10)."""
    hits: list[Hit] = []
    for start in range(0, len(ranking.memories), top_k):
        page = range(start, min(start + top_k, len(ranking.memories)))
        ids = [ranking.memories[place] for place in page]
        rows = with_relations(Memory.objects.in_vault(access.vault_id)).in_bulk(ids)
        for place in page:
            memory = rows.get(ranking.memories[place])
            if memory is None or len(hits) == top_k:
                continue
            if _opens(memory):
                hits.append(Hit(memory, ranking.scores[place], ranking.explain(place)))
            else:
                answer.unreadable += 1
        if len(hits) == top_k:
            break
    return hits


def _opens(memory: Memory) -> bool:
    try:
        return memory.content is not None
    except (DecryptionError, UnknownKey):
        log.warning("hit_unreadable", memory_id=str(memory.pk))
        return False
