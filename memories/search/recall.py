"""``search_memories``: legs → fusion → cut. Reads like a table of contents (API-06, SRC-01)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import structlog

from banks.access import Access, KeyScope
from memories.index.spaces import ActiveSpace, active_space
from memories.models import Memory
from memories.models.effective import effective_settings
from memories.rules.calibration import own_cosine
from memories.rules.filters import SearchQuery
from memories.rules.fusion import Fused, LegScore, fuse
from memories.rules.vocabulary import Trust
from memories.search.candidates import Allowed, allowed
from memories.search.filtering import matching
from memories.search.keywords import keyword_leg
from memories.search.meaning import Nearest, semantic_leg
from memories.search.reading import with_relations
from memoryhub.lib.blindindex import hash_query
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.providers.base import ProviderError

log = structlog.get_logger(__name__)
SEMANTIC, KEYWORD = "semantic", "keyword"


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


@dataclass(frozen=True, slots=True)
class _Asked:
    """Everything the legs need: who asks, what, under which settings, among which rows."""

    access: Access
    query: SearchQuery
    settings: Mapping[str, Any]
    rows: Allowed


def search_memories(access: Access, query: SearchQuery) -> SearchAnswer:
    """The memories that answer ``query``, best first. Needs memories:read. Raises UnknownBank.

    Without vectors it answers from words alone and says so in ``degraded`` (DEG-01, DEG-02).
    """
    access.require(KeyScope.MEMORIES_READ)
    started = time.perf_counter()
    settings = {key: effective.value for key, effective in effective_settings(access).items()}
    answer = SearchAnswer()
    rows = _allowed(access, query, settings)
    if rows is not None:
        asked = _Asked(access, query, settings, rows)
        legs = {SEMANTIC: _semantic(asked, answer), KEYWORD: _keyword(asked)}
        weights = {SEMANTIC: settings["semantic_weight"], KEYWORD: settings["keyword_weight"]}
        answer.hits = _cut(access, fuse(legs, weights), query.top_k, answer)
    answer.took_ms = round((time.perf_counter() - started) * 1000, 3)
    return answer


def _allowed(access: Access, query: SearchQuery, settings: Mapping[str, Any]) -> Allowed | None:
    """Every filter as SQL, the vault's own floor of trust included."""
    floor = query.min_trust or Trust(settings["min_trust"])
    wanted = query.filters().model_copy(update={"min_trust": floor})
    return allowed(matching(access, wanted))


def _semantic(asked: _Asked, answer: SearchAnswer) -> dict[UUID, float]:
    try:
        space = active_space(asked.access.vault_id) if asked.settings["embeddings"] else None
        if space is not None:
            return semantic_leg(asked.access, asked.rows, _nearest(space, asked))
    except ProviderError as error:
        log.warning("semantic_leg_skipped", vault_id=str(asked.access.vault_id), error=error.code)
    answer.degraded.append("embeddings")
    return {}


def _nearest(space: ActiveSpace, asked: _Asked) -> Nearest:
    given = asked.query.threshold
    threshold = asked.settings["search_threshold"] if given is None else given
    (vector,) = space.embedder.embed([asked.query.query])
    floor = own_cosine(space.embedder.name, space.embedder.model, threshold)
    return Nearest(space.space_id, vector.tolist(), floor, asked.settings["candidate_limit"], space.has_graph)


def _keyword(asked: _Asked) -> dict[UUID, float]:
    if not asked.settings["keyword_index"]:
        return {}
    access = asked.access
    terms = hash_query(access.keys.index, asked.query.query)
    return keyword_leg(access, asked.rows, terms, asked.settings["candidate_limit"])


def _cut(access: Access, fused: list[Fused[UUID]], top_k: int, answer: SearchAnswer) -> list[Hit]:
    """The best ``top_k`` that can be opened; one broken row costs itself, not the search (ENC-20, DEF-10)."""
    hits: list[Hit] = []
    for start in range(0, len(fused), top_k):
        page = fused[start : start + top_k]
        rows = with_relations(Memory.objects.in_vault(access.vault_id)).in_bulk([item.id for item in page])
        for item in page:
            memory = rows.get(item.id)
            if memory is None or len(hits) == top_k:
                continue
            if _opens(memory):
                hits.append(Hit(memory, item.score, item.legs))
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
