"""BM25 over terms, in plain Python: the reference the SQL and numpy scorers are tested against.

Terms may be words or blind-index hashes; the ranking is the same (CON-07).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

K1 = 0.9
B = 0.75


@dataclass(frozen=True, slots=True)
class Corpus[Term: Hashable]:
    """What BM25 must know about all documents: how many there are, their mean length, how many hold each term."""

    documents: int
    mean_length: float
    holding: Mapping[Term, int]


def idf(documents: int, holding: int) -> float:
    """Lucene's inverse document frequency: positive even for a term in every document, 0 for an empty corpus."""
    return math.log1p((documents - holding + 0.5) / (holding + 0.5)) if documents else 0.0


def term_weight(tf: int, length: int, mean_length: float, *, k1: float = K1, b: float = B) -> float:
    """How much one term's occurrences count in a document of `length` terms, from 0 up to below 1."""
    return tf / (tf + k1 * (1 - b + b * length / (mean_length or 1.0)))


def bm25[Term: Hashable](query: Collection[Term], tfs: Mapping[Term, int], length: int, corpus: Corpus[Term]) -> float:
    """The score of one document; 0 when it shares no term with the query. Repeated query terms count once."""
    return math.fsum(
        idf(corpus.documents, corpus.holding.get(term, 0)) * term_weight(tfs[term], length, corpus.mean_length)
        for term in set(query)
        if tfs.get(term)
    )


def corpus_of[Term: Hashable](documents: Sequence[Mapping[Term, int]], lengths: Sequence[int]) -> Corpus[Term]:
    """The statistics of a list of documents, each given as term → occurrences."""
    holding: dict[Term, int] = {}
    for document in documents:
        for term in document:
            holding[term] = holding.get(term, 0) + 1
    return Corpus(len(documents), sum(lengths) / len(lengths) if lengths else 0.0, holding)
