"""Profile ``balanced``: what the legs found, put in order by all there is to say for it (CON-14).

It looks at every candidate of any leg, and at the session neighbours of the best, with all features, also
those a leg's floor kept from entering by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memories.rules.fusion import Legs, Numbers, normalised_sum
from memories.rules.reranking import Manner
from memories.rules.times import MENTIONS_TIME, asks_when
from memories.search.features import Question, features
from memories.search.graph import graph_leg
from memories.search.keywords import QUERY_TERMS_MAX
from memories.search.phrases import quoted, shares_said
from memories.search.pool import Pool, Wanted, read_pool
from memories.search.question import Asked, Found
from memories.search.ranking import Circumstances, Fused, Ranking, first_units, ranked
from memories.search.seedprofile import seeds_of, weights_of
from memoryhub.lib.blindindex import hash_mark, hash_query
from memoryhub.providers.base import Emphasising

#: So many of each leg's best bring their neighbours in the session along (measured: more finds nothing more).
NEIGHBOURS_OF = 30
_WORDS = re.compile(r"[\w']+")


def balanced(asked: Asked, found: Found) -> Ranking:
    """Every feature of every candidate, each divided by its best, weighted and summed."""
    pool, legs = weighed(asked, found)
    weights = {name: asked.settings[f"{name}_weight"] for name in legs}
    fused = Fused(pool.memories, legs, normalised_sum(legs, weights), weights)
    return ranked(fused, _circumstances(pool), manner_of(asked.settings))


def weighed(asked: Asked, found: Found) -> tuple[Pool, Legs]:
    """The units of the candidates with all features and no weights yet."""
    terms, marks = found.terms[:QUERY_TERMS_MAX], _marks(asked)
    semantic = found.meaning.found if found.meaning else {}
    linked = _graph(asked, found)
    wanted = Wanted(
        found=list({**found.keyword.found, **semantic, **linked}),
        with_neighbours=[*list(found.keyword.found)[:NEIGHBOURS_OF], *list(semantic)[:NEIGHBOURS_OF]],
        terms=[*terms, *marks],
        space_id=found.meaning.space.space_id if found.meaning else None,
    )
    pool = read_pool(asked.access, asked.rows, wanted)
    asked.trace.mark("pool", len(wanted.found), len(pool))
    question = Question(
        text=asked.query.query,
        idf=found.keyword.corpus.idf,
        mean_length=found.keyword.corpus.mean_length,
        vector=_emphasised(asked, found, pool),
        asks_when=bool(marks),
        today=asked.at.date(),
    )
    beyond = {"graph": linked, "phrase": _phrases(asked, found, pool)}
    return pool, {**features(pool, question), **{name: _along(pool, leg) for name, leg in beyond.items()}}


def _along(pool: Pool, leg: Mapping[UUID, float]) -> Numbers:
    if not leg:
        return np.zeros(len(pool))
    return np.array([leg.get(memory_id, 0.0) for memory_id in pool.memories])


def _phrases(asked: Asked, found: Found, pool: Pool) -> Mapping[UUID, float]:
    """What says the phrases that a question quotes; the words are looked up, the order is seen in opened texts."""
    phrases = quoted(asked.query.query) if asked.settings["phrase_weight"] else []
    if not phrases or not len(pool):
        return {}
    column = {term: place for place, term in enumerate(found.terms[:QUERY_TERMS_MAX])}
    starts = first_units(pool.memories)
    held = np.logical_or.reduceat(pool.counts > 0, starts, axis=0)
    candidates = np.zeros(len(starts), np.bool_)
    for phrase in phrases:
        places = [column[term] for term in hash_query(asked.access.keys.index, phrase) if term in column]
        candidates |= held[:, places].all(axis=1)
    ids = [pool.memories[starts[place]] for place in np.flatnonzero(candidates)]
    by_words = {memory_id: place for place, memory_id in enumerate(found.keyword.found)}
    return shares_said(asked.access, sorted(ids, key=lambda each: by_words.get(each, len(by_words))), phrases)


def manner_of(settings: Mapping[str, Any]) -> Manner:
    """Decay as set, and variety among near-identical memories only: what merely resembles is often wanted too."""
    return Manner(
        half_life=settings["balanced_half_life_days"],
        floor=settings["decay_floor"],
        importance=settings["importance_boost"],
        confidence=settings["confidence_boost"],
        balance=settings["balanced_mmr_lambda"],
        alike_from=settings["balanced_alike_from"],
    )


def _graph(asked: Asked, found: Found) -> Mapping[UUID, float]:
    """One step from the best of both legs, when it counts at all."""
    if not asked.settings["graph_weight"]:
        return {}
    legs = {"keyword": found.keyword.found, "semantic": found.meaning.found if found.meaning else {}}
    return graph_leg(asked.access, asked.rows, seeds_of(legs, weights_of(asked.settings), asked.settings["rrf_k"]))


def _circumstances(pool: Pool) -> Circumstances:
    """Age is counted from the newest candidate, so that an archive is ranked as it was when it was new."""
    days = pool.days.astype(np.float64)
    return Circumstances(
        ages=days.max(initial=0.0) - days,
        importance=pool.importance,
        confidence=pool.confidence,
        vectors=pool.vectors,
    )


def _marks(asked: Asked) -> list[int]:
    wanted = asked.settings["keyword_index"] and asks_when(asked.query.query)
    return [hash_mark(asked.access.keys.index, MENTIONS_TIME)] if wanted else []


def _emphasised(asked: Asked, found: Found, pool: Pool) -> NDArray[np.float32] | None:
    """The question's vector; where the embedder can, with the words that are rare in this vault counting more.

    A word that no candidate has is no rarer than a common one: it may just be a way of asking.
    """
    if found.meaning is None:
        return None
    embedder, words = found.meaning.space.embedder, _WORDS.findall(asked.query.query)
    if not words or not found.keyword.corpus.idf or not isinstance(embedder, Emphasising):
        return found.meaning.vector
    seen = zip(found.terms, found.keyword.corpus.idf, pool.counts.any(axis=0).tolist(), strict=False)
    rarity = {term: idf for term, idf, is_seen in seen if is_seen}
    key = asked.access.keys.index
    weights = [1 + max((rarity.get(term, 0.0) for term in hash_query(key, word)), default=0.0) for word in words]
    return embedder.emphasise(words, weights)
