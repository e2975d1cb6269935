"""Profile ``balanced``: what the legs found, put in order by all there is to say for it (CON-14).

It looks at every candidate of any leg, and at the session neighbours of the best, with all features, also
those a leg's floor kept from entering by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memories.rules.fusion import Legs, normalised_sum
from memories.rules.times import MENTIONS_TIME, asks_when
from memories.search.features import Question, features
from memories.search.keywords import QUERY_TERMS_MAX
from memories.search.pool import Pool, Wanted, read_pool
from memories.search.question import Asked, Found
from memories.search.ranking import Ranking, best_units
from memoryhub.lib.blindindex import hash_mark, hash_query
from memoryhub.lib.clock import now
from memoryhub.providers.base import Emphasising

#: So many of each leg's best bring their neighbours in the session along (measured: more finds nothing more).
NEIGHBOURS_OF = 30
_WORDS = re.compile(r"[\w']+")


def balanced(asked: Asked, found: Found) -> Ranking:
    """Every feature of every candidate, each divided by its best, weighted and summed."""
    memories, legs = weighed(asked, found)
    weights = {name: asked.settings[f"{name}_weight"] for name in legs}
    return best_units(memories, legs, normalised_sum(legs, weights), weights)


def weighed(asked: Asked, found: Found) -> tuple[Sequence[UUID], Legs]:
    """The units of the candidates, each by its memory, with all features and no weights yet."""
    terms, marks = found.terms[:QUERY_TERMS_MAX], _marks(asked)
    semantic = found.meaning.found if found.meaning else {}
    wanted = Wanted(
        found=list({**found.keyword.found, **semantic}),
        with_neighbours=[*list(found.keyword.found)[:NEIGHBOURS_OF], *list(semantic)[:NEIGHBOURS_OF]],
        terms=[*terms, *marks],
        space_id=found.meaning.space.space_id if found.meaning else None,
    )
    pool = read_pool(asked.access, asked.rows, wanted)
    question = Question(
        text=asked.query.query,
        idf=found.keyword.corpus.idf,
        mean_length=found.keyword.corpus.mean_length,
        vector=_emphasised(asked, found, pool),
        asks_when=bool(marks),
        today=now().date(),
    )
    return pool.memories, features(pool, question)


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
