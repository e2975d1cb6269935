"""What a store's tables and indexes take on disk, and the bare query a search is compared with."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import psycopg

from memories.models import Embedding, Memory, MemoryIndex, Posting, VaultSpace

NEIGHBOURS = 100
#: Vectors the bare query asks for are drawn from so many ids at once: some belong to rows that are gone.
_DRAWN = 4
_MEGABYTE = 2**20


def sizes(database_url: str) -> dict[str, float]:
    """Megabytes on disk: memories, what keyword search reads, vectors, the graphs over them, and everything."""
    rows, words, postings, vectors = (model._meta.db_table for model in (Memory, MemoryIndex, Posting, Embedding))
    graphs = (
        f"SELECT coalesce(sum(pg_relation_size(indexrelid)), 0) FROM pg_index JOIN pg_class ON oid = indexrelid"
        f" WHERE indrelid = '{vectors}'::regclass AND relam = (SELECT oid FROM pg_am WHERE amname = 'hnsw')"
    )
    asked = {
        "size.memories_mb": f"pg_table_size('{rows}')",
        "size.memories_indexes_mb": f"pg_indexes_size('{rows}')",
        "size.words_mb": f"pg_total_relation_size('{words}')",
        "size.postings_mb": f"pg_total_relation_size('{postings}')",
        "size.vectors_mb": f"pg_total_relation_size('{vectors}') - ({graphs})",
        "size.graphs_mb": f"({graphs})",
        "size.database_mb": "pg_database_size(current_database())",
    }
    with psycopg.connect(database_url) as connection:
        found = connection.execute(f"SELECT {', '.join(asked.values())}").fetchone() or ()
    return {name: float(size) / _MEGABYTE for name, size in zip(asked, found, strict=True)}


def neighbour_queries(database_url: str, count: int) -> Iterator[float]:
    """Seconds of the top-100 nearest-neighbour query in SQL and nothing else, for vectors of the largest vault.

    Through the vault's HNSW index where it has one, as a search would, otherwise by exact scan.
    """
    vectors, places = Embedding._meta.db_table, VaultSpace._meta.db_table
    with psycopg.connect(database_url, autocommit=True) as connection:
        largest = f"SELECT vault_id, space_id FROM {vectors} GROUP BY 1, 2 ORDER BY count(*) DESC LIMIT 1"
        place = connection.execute(
            f"SELECT vault_id, space_id, has_graph FROM {places} WHERE (vault_id, space_id) = ({largest})"
        ).fetchone()
        if place is None:
            return
        vault, space, has_graph = place
        first, last = connection.execute(
            f"SELECT min(id), max(id) FROM {vectors} WHERE vault_id = %s", (vault,)
        ).fetchone() or (0, 0)
        drawn = [random.randint(first, last) for _ in range(count * _DRAWN)]
        asked = connection.execute(
            f"SELECT vector::text, vector_dims(vector) FROM {vectors} WHERE id = ANY(%s) AND vault_id = %s LIMIT %s",
            (drawn, vault, count),
        ).fetchall()
        kind = f"halfvec({asked[0][1]})" if has_graph else "halfvec"
        query = (
            f"SELECT memory_id FROM {vectors} WHERE vault_id = '{vault}' AND space_id = '{space}'"
            f" {'AND NOT in_tail' if has_graph else ''} ORDER BY vector::{kind} <=> %s::{kind} LIMIT {NEIGHBOURS}"
        )
        connection.execute(f"SET hnsw.ef_search = {NEIGHBOURS}")
        for vector, _ in asked:
            started = time.perf_counter()
            connection.execute(query, (vector,)).fetchall()
            yield time.perf_counter() - started
