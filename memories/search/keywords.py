"""The keyword leg: BM25 over keyed tokens, packed postings and the fresh tail scored in numpy (SRC-03).

Exact while the question's words occur ``POSTINGS_MAX`` times in what is packed. Beyond that the commonest words propose
nobody by themselves, or only who was written last; how rare every word is stays exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from banks.access import Access
from memories.index.postings import CHUNK, Postings, unpack, unpack_all
from memories.rules.bm25 import K1, B
from memories.search.candidates import Allowed, run
from memories.search.counting import counting, read_counts
from memories.search.few import Few
from memoryhub.lib.statements import fetch

#: Distinct words of a question that are scored; the rest of a very long one is left to the semantic leg.
QUERY_TERMS_MAX = 48
#: So many postings are read and scored for one question, those of its rarest words first.
POSTINGS_MAX = 250_000
#: No look goes this many times further than all before it.
_GROWTH = 8

type Packed = dict[int, list[tuple[int, Postings]]]
type Numbers = NDArray[np.int64]
type Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Corpus:
    """What BM25 weighs with, over packed documents and tail together; ``idf`` in the order of the terms."""

    idf: Sequence[float]
    mean_length: float


@dataclass(frozen=True, slots=True)
class _Packed:
    """What was read of the postings: for each its document, how often, how long; no duplicates.

    They come body by body: ``places`` and ``sizes`` say of which term one is, and how many postings are in it.
    ``holding``: how many packed documents hold each term, read or not.
    """

    places: Numbers
    sizes: Numbers
    documents: Numbers
    counts: Scores
    lengths: Scores
    holding: Scores


@dataclass(frozen=True, slots=True)
class _Tail:
    """Documents that are not packed yet: their numbers and lengths, (documents, terms) counts."""

    documents: Numbers
    lengths: Scores
    counts: Scores


@dataclass(frozen=True, slots=True)
class _Scored:
    """Document numbers and their scores, in no order."""

    documents: Numbers
    scores: Scores
    corpus: Corpus


@dataclass(frozen=True, slots=True)
class KeywordHits:
    """Memory → BM25 of its best unit, best first, and what it was weighed with (the first 48 terms)."""

    found: Mapping[UUID, float]
    corpus: Corpus


def keyword_leg(access: Access, rows: Allowed, terms: Sequence[int], limit: int, few: Few | None = None) -> KeywordHits:
    """The best memories that pass the filters, as if those had been applied before ranking; ``few`` are all of them."""
    terms = list(terms)[:QUERY_TERMS_MAX]
    if not terms:
        return KeywordHits({}, Corpus([], 1.0))
    scored = _score(access, terms)
    found = _found(access, rows, scored, limit) if few is None else _found_among(few, scored)
    first = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return KeywordHits(dict(first), scored.corpus)


def _found_among(few: Few, scored: _Scored) -> dict[UUID, float]:
    """Memory → the score of its best unit, for all that are listed and hold a word."""
    found: dict[UUID, float] = {}
    held = np.isin(scored.documents, np.fromiter(few.documents, np.int64, len(few.documents)))
    for number, score in zip(scored.documents[held].tolist(), scored.scores[held].tolist(), strict=True):
        memory_id = few.documents[number]
        found[memory_id] = max(score, found.get(memory_id, 0.0))
    return found


def _found(access: Access, rows: Allowed, scored: _Scored, limit: int) -> dict[UUID, float]:
    """The same for ``limit`` or more that pass, found by looking down the order."""
    found: dict[UUID, float] = {}
    seen, more = 0, limit + limit // 4
    while seen < len(scored.documents) and len(found) < limit:
        best = _best(scored, seen + more)[seen:]
        by_number = dict(zip(scored.documents[best].tolist(), scored.scores[best].tolist(), strict=True))
        for memory_id, number in run(_PASSING, rows, {"vault": access.vault_id, "documents": list(by_number)}):
            found[memory_id] = max(by_number[number], found.get(memory_id, 0.0))
        seen += more
        more = _more(seen, len(found), limit)
    return found


_PASSING = """
    SELECT i.memory_id, i.doc_no FROM memories_memoryindex i JOIN memories_memory ON memories_memory.id = i.memory_id
    WHERE i.vault_id = %(vault)s AND i.doc_no = ANY(%(documents)s::int4[]) AND <passes>
"""


def read_postings(access: Access, terms: Sequence[int]) -> Packed:
    """Term → its (chunk, postings); nothing is asked for a vault too small to have any."""
    packed: Packed = defaultdict(list)
    if access.vault.next_doc_no < CHUNK:
        return packed
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT term, chunk, body FROM memories_posting WHERE vault_id = %s AND term = ANY(%s)",
            [access.vault_id, list(terms)],
        )
        for term, chunk, body in cursor.fetchall():
            packed[term].append((chunk, unpack(body)))
    return packed


def _score(access: Access, terms: Sequence[int]) -> _Scored:
    columns, named = counting(terms)
    named |= {"vault": access.vault_id, "terms": list(terms), "affordable": POSTINGS_MAX}
    ((documents, length, *columns_of_both),) = fetch(_KNOWN.replace("<counting>", columns), named)
    tail, packed = _tail(terms, columns_of_both[:4]), _packed(terms, columns_of_both[4:])
    holding = packed.holding + np.count_nonzero(tail.counts, axis=0)
    idf = np.log1p((np.maximum(documents, holding) - holding + 0.5) / (holding + 0.5))
    mean_length = max(length / max(documents, 1), 1e-9)
    base, norm = K1 * (1 - B), K1 * B / mean_length
    sums = np.bincount(packed.documents, _parts(packed, idf, base, norm))
    numbers = np.flatnonzero(sums > 0)
    fresh = (tail.counts / (tail.counts + (base + norm * tail.lengths)[:, None])) @ idf
    return _Scored(
        np.concatenate([numbers, tail.documents]),
        np.concatenate([sums[numbers], fresh]),
        Corpus(idf.tolist(), mean_length),
    )


def _parts(packed: _Packed, idf: Scores, base: float, norm: float) -> Scores:
    """What each posting adds to its document, worked out in place: fresh memory costs more than the arithmetic."""
    parts = packed.lengths * norm
    parts += base
    parts += packed.counts
    np.divide(packed.counts, parts, out=parts)
    parts *= np.repeat(idf[packed.places], packed.sizes)
    return parts


def _packed(terms: Sequence[int], columns: Sequence[Any]) -> _Packed:
    """The postings of the rarest terms, as many as are affordable: term, chunk, documents that hold it, body."""
    place_of = {term: place for place, term in enumerate(terms)}
    parts = list(zip(*columns, strict=True)) if columns[0] is not None else []
    holding = np.zeros(len(terms))
    for term, _, count, _ in parts:
        holding[place_of[term]] = count
    read = [(place_of[term], chunk, body) for term, chunk, _, body in parts if body is not None]
    read.sort(key=lambda part: part[:2])
    postings, sizes = unpack_all([body for *_, body in read])
    documents = np.repeat(np.array([chunk * CHUNK for _, chunk, _ in read], np.int64), sizes)
    documents += postings.offsets
    return _Packed(
        places=np.array([place for place, *_ in read], np.int64),
        sizes=sizes,
        documents=documents,
        counts=postings.counts.astype(np.float64),
        lengths=postings.lengths.astype(np.float64),
        holding=holding,
    )


def _tail(terms: Sequence[int], columns: Sequence[Any]) -> _Tail:
    """What is not packed yet and holds a term."""
    numbers, lengths, words, times = columns
    return _Tail(
        documents=np.array(numbers or [], np.int64),
        lengths=np.array(lengths or [], np.float64),
        counts=read_counts(len(numbers or []), words, times, terms),
    )


# How many documents there are and how long they are together, the tail, the postings: asked at once, so that no
# document is missed or met twice that is packed at this moment.
_KNOWN = """
    SELECT corpus.*, tail.*, packed.* FROM (
        SELECT sum(documents)::int8, sum(length)::int8 FROM (
            SELECT count(*) AS documents, coalesce(sum(doc_len), 0) AS length FROM memories_memoryindex
            WHERE vault_id = %(vault)s AND NOT is_compacted
            UNION ALL
            SELECT coalesce(sum(documents), 0), coalesce(sum(total_length), 0) FROM memories_postingchunk
            WHERE vault_id = %(vault)s
        ) AS parts
    ) AS corpus, (
        SELECT array_agg(i.doc_no), array_agg(i.doc_len), <counting> FROM memories_memoryindex i
        WHERE i.vault_id = %(vault)s AND NOT i.is_compacted AND i.terms && %(terms)s::int8[]
    ) AS tail, (
        SELECT array_agg(term), array_agg(chunk), array_agg(holding),
               array_agg(CASE WHEN before < %(affordable)s THEN body END) FROM (
            SELECT *, sum(size) OVER (ORDER BY holding, term, chunk DESC) - size AS before FROM (
                SELECT term, chunk, body, octet_length(body) / 5 AS size,
                       sum(octet_length(body) / 5) OVER (PARTITION BY term) AS holding
                FROM memories_posting WHERE vault_id = %(vault)s AND term = ANY(%(terms)s::int8[])
            ) AS there
        ) AS rarest_first
    ) AS packed
"""


def _more(seen: int, passed: int, limit: int) -> int:
    """How many documents to look at next, as many as will do when the filters let as few pass as so far."""
    expected = (limit - passed) * seen // max(passed, 1)
    return max(limit, min(expected + expected // 4, seen * _GROWTH))


def _best(scored: _Scored, count: int) -> Numbers:
    """The rows of the ``count`` best, ties in the order they were written; the rest is never put in order."""
    rows = np.arange(len(scored.scores))
    if count < len(rows):
        least = np.partition(scored.scores, -count)[-count]
        rows = np.flatnonzero(scored.scores >= least)
    order: Numbers = np.lexsort((scored.documents[rows], -scored.scores[rows]))
    return rows[order][:count]
