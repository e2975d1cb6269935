"""The keyword leg: exact BM25 over keyed tokens, packed postings scored in numpy, the fresh tail in SQL (SRC-03)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from banks.access import Access
from memories.index.postings import CHUNK, Postings, unpack
from memories.rules.bm25 import K1, B
from memories.search.candidates import Allowed, run

#: Distinct words of a question that are scored; the rest of a very long one is left to the semantic leg.
QUERY_TERMS_MAX = 48
_FIRST_SLICE = 300
_GROWTH = 8

type Packed = dict[int, list[tuple[int, Postings]]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """What BM25 weighs with, over packed documents and tail together; ``idf`` in the order of the terms."""

    idf: Sequence[float]
    mean_length: float


@dataclass(frozen=True, slots=True)
class _Scored:
    """Document numbers and their scores, best first; ties in the order they were written."""

    documents: NDArray[np.int64]
    scores: NDArray[np.float64]
    corpus: Corpus


@dataclass(frozen=True, slots=True)
class KeywordHits:
    """Memory → BM25 of its best unit, best first, and what it was weighed with (the first 48 terms)."""

    found: Mapping[UUID, float]
    corpus: Corpus


def keyword_leg(access: Access, rows: Allowed, terms: Sequence[int], limit: int) -> KeywordHits:
    """The best memories that pass the filters, exactly as if those had been applied before ranking."""
    terms = list(terms)[:QUERY_TERMS_MAX]
    if not terms:
        return KeywordHits({}, Corpus([], 1.0))
    scored = _score(access, terms)
    found: dict[UUID, float] = {}
    for documents, scores in _slices(scored):
        by_number = dict(zip(documents.tolist(), scores.tolist(), strict=True))
        for memory_id, number in run(_PASSING, rows, {"vault": access.vault_id, "documents": list(by_number)}):
            found[memory_id] = max(by_number[number], found.get(memory_id, 0.0))
        if len(found) >= limit:
            break
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return KeywordHits(dict(best), scored.corpus)


_NONE: NDArray[np.int64] = np.array([], np.int64)

_PASSING = """
    SELECT i.memory_id, i.doc_no FROM memories_memoryindex i
    WHERE i.vault_id = %(vault)s AND i.doc_no = ANY(%(documents)s) AND i.memory_id IN (<allowed>)
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
    packed = read_postings(access, terms)
    corpus, documents, scores = _tail(access, terms, packed)
    numbers, sums = _sum_postings(terms, packed, corpus)
    all_numbers, all_scores = np.concatenate([numbers, documents]), np.concatenate([sums, scores])
    order = np.lexsort((all_numbers, -all_scores))
    return _Scored(all_numbers[order], all_scores[order], corpus)


def _sum_postings(
    terms: Sequence[int], packed: Packed, corpus: Corpus
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """A document occurs once in a term, so adding whole arrays term by term is right."""
    if not packed:
        return _NONE, np.array([], np.float64)
    size = (1 + max(chunk for parts in packed.values() for chunk, _ in parts)) * CHUNK
    sums = np.zeros(size, np.float64)
    base, norm = K1 * (1 - B), K1 * B / (corpus.mean_length or 1.0)
    for term, idf in zip(terms, corpus.idf, strict=True):
        for chunk, part in packed.get(term, []):
            counts = part.counts.astype(np.float64)
            within = sums[chunk * CHUNK : (chunk + 1) * CHUNK]
            within[part.offsets] += idf * (counts / (counts + base + norm * part.lengths))
    numbers = np.flatnonzero(sums)
    return numbers, sums[numbers]


def _tail(
    access: Access, terms: Sequence[int], packed: Packed
) -> tuple[Corpus, NDArray[np.int64], NDArray[np.float64]]:
    """Score what is not packed yet, and learn from the same statement what the whole corpus looks like."""
    named: dict[str, Any] = {"vault": access.vault_id, "terms": list(terms), "base": K1 * (1 - B), "norm": K1 * B}
    for place, term in enumerate(terms):
        named |= {f"t{place}": term, f"p{place}": sum(len(part) for _, part in packed.get(term, []))}
    with connection.cursor() as cursor:
        cursor.execute(_tail_statement(len(terms)), named)
        (_, _, idf, mean_length), *hits = cursor.fetchall()
    documents = np.array([hit[0] for hit in hits], np.int64)
    scores = np.array([hit[1] for hit in hits], np.float64)
    return Corpus(idf, mean_length), documents, scores


def _tail_statement(count: int) -> str:
    """The first row holds each term's weight and the mean length, the others are hits.

    One column of counts per term: arrays are looked at once, and document frequencies come from the same scan.
    """
    places = range(count)
    counts = ", ".join(f"coalesce(i.tfs[array_position(i.terms, %(t{n})s)], 0)::float8 AS f{n}" for n in places)
    holding = ", ".join(f"count(*) FILTER (WHERE f{n} > 0) + %(p{n})s AS d{n}" for n in places)
    idf = ", ".join(f"ln(1 + (greatest(documents, d{n}) - d{n} + 0.5) / (d{n} + 0.5))::float8 AS w{n}" for n in places)
    weights = ", ".join(f"w{n}" for n in places)
    score = " + ".join(f"w{n} * f{n} / (f{n} + %(base)s + %(norm)s * doc_len / mean_length)" for n in places)
    return f"""
        WITH hits AS MATERIALIZED (
            SELECT i.doc_no, i.doc_len, {counts} FROM memories_memoryindex i
            WHERE i.vault_id = %(vault)s AND NOT i.is_compacted AND i.terms && %(terms)s::int8[]
        ), holding AS (SELECT {holding} FROM hits
        ), parts AS (
            SELECT count(*) AS documents, coalesce(sum(doc_len), 0) AS length FROM memories_memoryindex
            WHERE vault_id = %(vault)s AND NOT is_compacted
            UNION ALL
            SELECT coalesce(sum(documents), 0), coalesce(sum(total_length), 0) FROM memories_postingchunk
            WHERE vault_id = %(vault)s
        ), corpus AS (
            SELECT sum(documents)::float8 AS documents,
                   greatest(sum(length)::float8 / greatest(sum(documents), 1), 1e-9)::float8 AS mean_length FROM parts
        ), weights AS (SELECT {idf}, mean_length FROM holding, corpus)
        SELECT NULL::int4, NULL::float8, ARRAY[{weights}], mean_length FROM weights
        UNION ALL SELECT doc_no, ({score})::float8, NULL, NULL FROM hits, weights
    """


def _slices(scored: _Scored) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """The best first, in growing slices: few queries even when almost nothing passes the filters."""
    start, size = 0, _FIRST_SLICE
    while start < len(scored.documents):
        yield scored.documents[start : start + size], scored.scores[start : start + size]
        start, size = start + size, size * _GROWTH
