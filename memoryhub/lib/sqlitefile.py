"""SQLite files of strangers: opened to be read, with nothing in them allowed to run."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memoryhub.lib.errors import Invalid

#: A row longer than this is no memory.
_LONGEST = 4 * 1024 * 1024
_JOURNAL_MODES = slice(18, 20)
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})
_REFUSED = "The file is no SQLite file that can be read, or is damaged; copy it while its program is stopped."


class SqliteRefused(Invalid):
    """The SQLite file cannot be read."""

    code = "sqlite_refused"


@contextmanager
def opened_sqlite(source: Path | bytes) -> Iterator[sqlite3.Connection]:
    """The file, or its bytes, open for reading. Raises SqliteRefused."""
    connection: sqlite3.Connection | None = None
    try:
        if isinstance(source, bytes):
            connection = sqlite3.connect(":memory:")
            image = bytearray(source)
            # A database in memory has no journal beside it: one that says it has would not open.
            image[_JOURNAL_MODES] = b"\x01\x01"
            connection.deserialize(bytes(image))
        else:
            connection = sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.set_authorizer(_may)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        yield connection
    except (sqlite3.Error, OverflowError, MemoryError):
        raise SqliteRefused(_REFUSED) from None
    finally:
        if connection is not None:
            connection.close()


def table_rows(connection: sqlite3.Connection, table: str, wanted: Collection[str]) -> Iterator[dict[str, Any]]:
    """The rows of an ordinary table, with those of the ``wanted`` columns that it has; no rows without the table."""
    found = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone()
    if found is None or not str(found[0]).upper().startswith("CREATE TABLE"):
        return
    there = [column[0] for column in connection.execute(f'SELECT * FROM "{table}" LIMIT 0').description]
    names = [name for name in wanted if name in there]
    if not names:
        return
    listed = ", ".join(f'"{name}"' for name in names)
    for row in connection.execute(f'SELECT {listed} FROM "{table}"'):
        yield dict(zip(names, row, strict=True))


def _may(action: int, *_: Any) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
