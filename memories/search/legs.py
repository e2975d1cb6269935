"""The two legs of recall: nearest vectors and BM25 over keyed tokens. Filters count before ranking (SRC-02, 03, 18)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connection
from pgvector import HalfVector

from banks.access import Access
from memories.models.memory import MemoryQuerySet
from memories.rules.bm25 import K1, B
from memories.search.statistics import CorpusSize

#: Distinct words of a question that are scored; the rest of a very long one is left to the semantic leg.
QUERY_TERMS_MAX = 48
#: So many nearest vectors are looked at before the filters; only if too few pass are the filters applied first.
_PREFIX = 1_000


@dataclass(frozen=True, slots=True)
class Allowed:
    """The memories a search may return, as SQL."""

    sql: str
    params: Sequence[Any]


def allowed(rows: MemoryQuerySet) -> Allowed | None:
    """The rows as a subquery of ids; None when no row can match."""
    try:
        sql, params = rows.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:
        return None
    return Allowed(sql, params)


@dataclass(frozen=True, slots=True)
class Nearest:
    """A semantic question: the vector, its space, the least cosine that counts, and how many are wanted."""

    space_id: UUID
    vector: Sequence[float]
    floor: float
    limit: int


def semantic_leg(access: Access, rows: Allowed, asked: Nearest) -> dict[UUID, float]:
    """Memory → cosine of its best unit, for the nearest ones at or above the floor (SRC-17, DUP-23)."""
    found = _nearest(_PREFIX_FIRST, access, rows, asked)
    if len(found) < asked.limit and _has_more(access, asked):
        found = _nearest(_FILTER_FIRST, access, rows, asked)
    return dict(sorted(found.items(), key=lambda item: -item[1])[: asked.limit])


_PREFIX_FIRST = """
    SELECT nearest.memory_id, 1 - nearest.distance FROM (
        SELECT e.memory_id, e.vector <=> %(vector)s::halfvec AS distance FROM memories_embedding e
        WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s
        ORDER BY e.vector <=> %(vector)s::halfvec LIMIT %(prefix)s
    ) nearest
    WHERE nearest.distance <= %(ceiling)s AND nearest.memory_id IN (<allowed>)
"""

_FILTER_FIRST = """
    SELECT e.memory_id, 1 - (e.vector <=> %(vector)s::halfvec) FROM memories_embedding e
    WHERE e.vault_id = %(vault)s AND e.space_id = %(space)s AND e.memory_id IN (<allowed>)
      AND e.vector <=> %(vector)s::halfvec <= %(ceiling)s
    ORDER BY e.vector <=> %(vector)s::halfvec LIMIT %(limit)s
"""


def _nearest(statement: str, access: Access, rows: Allowed, asked: Nearest) -> dict[UUID, float]:
    named = {
        "vector": HalfVector(list(asked.vector)).to_text(),
        "vault": access.vault_id,
        "space": asked.space_id,
        "prefix": _PREFIX,
        "ceiling": 1 - asked.floor,
        # A memory has several units; the factor leaves enough memories after the best unit of each is taken.
        "limit": asked.limit * 4,
    }
    best: dict[UUID, float] = {}
    for memory_id, cosine in _run(statement, rows, named):
        best[memory_id] = max(cosine, best.get(memory_id, -1.0))
    return best


def _has_more(access: Access, asked: Nearest) -> bool:
    """Whether vectors beyond the prefix could still pass the floor."""
    statement = """
        SELECT count(*) FROM (
            SELECT 1 FROM memories_embedding e WHERE e.vault_id = %s AND e.space_id = %s LIMIT %s
        ) AS seen
    """
    with connection.cursor() as cursor:
        cursor.execute(statement, [access.vault_id, asked.space_id, _PREFIX + 1])
        (count,) = cursor.fetchone()
    return bool(count > _PREFIX)


def keyword_leg(
    access: Access, rows: Allowed, terms: Sequence[int], corpus: CorpusSize, limit: int
) -> dict[UUID, float]:
    """Memory → exact BM25 over keyed tokens, for the best ones. Equal scores in the order of their ids."""
    terms = list(terms)[:QUERY_TERMS_MAX]
    if not terms or not corpus.documents:
        return {}
    named: dict[str, Any] = {
        "vault": access.vault_id,
        "terms": terms,
        "documents": corpus.documents,
        "norm": K1 * B / (corpus.mean_length or 1.0),
        "base": K1 * (1 - B),
        "limit": limit,
        **{f"t{place}": term for place, term in enumerate(terms)},
    }
    return dict(_run(_bm25_statement(len(terms)), rows, named))


def _bm25_statement(count: int) -> str:
    """One column of counts per term: arrays stay unopened, and document frequencies come from the same scan."""
    places = range(count)
    counts = ", ".join(f"coalesce(i.tfs[array_position(i.terms, %(t{n})s)], 0) AS f{n}" for n in places)
    holding = ", ".join(f"count(*) FILTER (WHERE f{n} > 0) AS d{n}" for n in places)
    idf = ", ".join(f"ln(1 + (greatest(%(documents)s, d{n}) - d{n} + 0.5) / (d{n} + 0.5)) AS w{n}" for n in places)
    score = " + ".join(f"w{n} * f{n} / (f{n} + %(base)s + %(norm)s * doc_len)" for n in places)
    return f"""
        WITH hits AS MATERIALIZED (
            SELECT i.memory_id, i.doc_len, {counts} FROM memories_memoryindex i
            WHERE i.vault_id = %(vault)s AND i.terms && %(terms)s::int8[]
        ), holding AS (SELECT {holding} FROM hits), weights AS (SELECT {idf} FROM holding)
        SELECT memory_id, ({score})::float8 AS score FROM hits, weights
        WHERE memory_id IN (<allowed>) ORDER BY score DESC, memory_id LIMIT %(limit)s
    """


def _run(statement: str, rows: Allowed, named: dict[str, Any]) -> list[tuple[UUID, float]]:
    """Run a statement whose ``<allowed>`` is the filters' subquery, with its own parameters named apart."""
    names = [f"allowed_{place}" for place in range(len(rows.params))]
    pieces = rows.sql.split("%s")
    subquery = "".join(piece + (f"%({names[n]})s" if n < len(names) else "") for n, piece in enumerate(pieces))
    with connection.cursor() as cursor:
        cursor.execute(
            statement.replace("<allowed>", subquery), {**named, **dict(zip(names, rows.params, strict=True))}
        )
        return list(cursor.fetchall())
