"""The local store: its file, its namespaces, threads."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path

from memoryhub.client import HumanMemory, MemoryCategory, MemoryItem, SQLiteMemoryStore


def test_a_file_is_found_again_and_namespaces_never_mix(tmp_path: Path):
    """MOD-21, MOD-20."""
    path = str(tmp_path / "memories.db")
    store = SQLiteMemoryStore(path)
    store.add(MemoryItem(id="one", content="Kept.", category=MemoryCategory.SEMANTIC))
    SQLiteMemoryStore(path, namespace="other").add(MemoryItem(id="one", content="Elsewhere."))
    store.close()
    again = SQLiteMemoryStore(path)
    assert [item.content for item in asyncio.run(again.search())] == ["Kept."]
    assert asyncio.run(again.clear()) == 1
    assert [item.content for item in asyncio.run(SQLiteMemoryStore(path, "other").search())] == ["Elsewhere."]


def test_a_file_from_before_categories_is_brought_up_to_date(tmp_path: Path):
    """MIG-01, MOD-13: rows that were there have no category."""
    path = str(tmp_path / "old.db")
    with sqlite3.connect(path) as file:
        file.execute(
            "CREATE TABLE memory_items (number INTEGER PRIMARY KEY, namespace TEXT NOT NULL, id TEXT NOT NULL,"
            " memory_type TEXT, status TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (namespace, id))"
        )
        file.execute("CREATE TABLE _memory_migrations (version INTEGER PRIMARY KEY, description TEXT, applied_at TEXT)")
        file.execute("INSERT INTO _memory_migrations VALUES (1, '', '')")
        body = '{"content": "Old.", "metadata": {}}'
        file.execute("INSERT INTO memory_items VALUES (1, 'default', 'old', 'human', 'accepted', ?)", (body,))
    file.close()
    item = asyncio.run(SQLiteMemoryStore(path).get("old"))
    assert isinstance(item, HumanMemory) and (item.content, item.category) == ("Old.", None)


def test_threads_share_it():
    store = SQLiteMemoryStore()
    threads = [
        threading.Thread(target=lambda start=start: [store.add(HumanMemory(content=f"{start}{n}")) for n in range(50)])
        for start in "abcd"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asyncio.run(store.search(limit=500))) == 200
