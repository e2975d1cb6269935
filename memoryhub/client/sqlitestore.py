"""A store in one SQLite file, for agents that work without a hub or before there is one (MOD-20)."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Awaitable
from contextlib import closing

from memoryhub.client.acting import Done
from memoryhub.client.items import MemoryCategory, MemoryItem, MemoryMetadata, MemoryStatus, item_of
from memoryhub.client.migrations import Migration, MigrationRunner
from memoryhub.client.stores import Filters, chosen

MIGRATIONS = [
    Migration(
        version=1,
        description="Items, by namespace and in the order they were added",
        up_sql="CREATE TABLE memory_items (number INTEGER PRIMARY KEY, namespace TEXT NOT NULL, id TEXT NOT NULL,"
        " memory_type TEXT, status TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (namespace, id))",
    ),
    Migration(version=2, description="Category", up_sql="ALTER TABLE memory_items ADD COLUMN category TEXT"),
]


class SQLiteMemoryStore:
    """Items in the file at ``path``, or in memory; two namespaces of one file never see each other's items.

    Threads may share it. A search with a query reads what passes its filters: thousands of items, not millions.
    """

    def __init__(self, path: str = ":memory:", namespace: str = "default") -> None:
        self.namespace = namespace
        self._lock = threading.Lock()
        self._file = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=30)
        self._file.execute("PRAGMA journal_mode = WAL")
        MigrationRunner(MIGRATIONS).run_now(self._file)

    def add(self, item: MemoryItem) -> Awaitable[None]:
        """Keep it; an item of a known id is replaced where it stands."""
        body = item.model_dump_json(exclude={"id", "memory_type", "status", "category"})
        with self._lock:
            self._file.execute(
                "INSERT INTO memory_items (namespace, id, memory_type, status, category, body)"
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (namespace, id) DO UPDATE SET memory_type ="
                " excluded.memory_type, status = excluded.status, category = excluded.category, body = excluded.body",
                (self.namespace, item.id, item.memory_type, item.status, item.category, body),
            )
        return Done(None)

    async def get(self, item_id: str) -> MemoryItem | None:
        """The item; None when there is none."""
        return next(iter(self._read(" AND id = ?", item_id)), None)

    async def search(
        self,
        *,
        query: str = "",
        metadata: MemoryMetadata | None = None,
        memory_type: str | None = None,
        category: MemoryCategory | None = None,
        status: MemoryStatus | None = None,
        limit: int = 10,
    ) -> list[MemoryItem]:
        """The newest that match, or for a query those that share words with it, best first."""
        filters = Filters(metadata, memory_type, category, status).recallable()
        return chosen(self._matching(filters), filters, query, limit)

    async def clear(
        self,
        *,
        metadata: MemoryMetadata | None = None,
        memory_type: str | None = None,
        category: MemoryCategory | None = None,
        status: MemoryStatus | None = None,
    ) -> int:
        """Delete what matches, in this namespace; how many."""
        filters = Filters(metadata, memory_type, category, status)
        gone = [item.id for item in self._matching(filters) if filters.match(item)]
        with self._lock:
            self._file.executemany(
                "DELETE FROM memory_items WHERE namespace = ? AND id = ?", [(self.namespace, each) for each in gone]
            )
        return len(gone)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def _matching(self, filters: Filters) -> list[MemoryItem]:
        """What the columns let through; the rest of the filters is in the body."""
        columns = {"memory_type": filters.memory_type, "category": filters.category, "status": filters.status}
        asked = {name: str(value) for name, value in columns.items() if value is not None}
        return self._read("".join(f" AND {name} = ?" for name in asked), *asked.values())

    def _read(self, condition: str, *values: str) -> list[MemoryItem]:
        columns = "id, memory_type, status, category, body"
        order = f"SELECT {columns} FROM memory_items WHERE namespace = ?{condition} ORDER BY number"
        with self._lock, closing(self._file.execute(order, (self.namespace, *values))) as rows:
            found = rows.fetchall()
        return [
            item_of({**json.loads(body), "id": key, "memory_type": role, "status": status, "category": category})
            for key, role, status, category, body in found
        ]
