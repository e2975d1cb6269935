"""Changes of a store's tables, each applied once and in order (MIG-01…05). Forward only."""

from __future__ import annotations

import datetime as dt
import re
import sqlite3
from collections.abc import Generator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

LEDGER = "_memory_migrations"
_ADDS_A_COLUMN = re.compile(r"\s*ALTER\s+TABLE\s+\S+\s+ADD\s+(?:COLUMN\s+)?\S+\s[^;]*;?\s*", re.IGNORECASE)
_IS_THERE = re.compile(r"duplicate column|already exists", re.IGNORECASE)

type Rows = Sequence[Sequence[Any]]
type Steps = Generator[str, Rows]


class Migration(BaseModel):
    """One step; no ``up_sql`` only records the version, for a store that began with it."""

    model_config = ConfigDict(frozen=True)

    version: int
    description: str
    up_sql: str


class MigrationRunner:
    """Applies what was not applied yet, by version, each in a transaction of its own, and writes it into a ledger.

    A version counts as applied when it is in the ledger, not when a higher one is: one that comes late is not lost.
    Adding a column that is there already is no failure: the store was created with it.
    """

    def __init__(self, migrations: Sequence[Migration]) -> None:
        self.migrations = sorted(migrations, key=lambda each: each.version)
        versions = [each.version for each in self.migrations]
        if len(set(versions)) < len(versions):
            raise ValueError(f"Two migrations have the same version: {versions}.")

    async def run(self, db: Any) -> None:
        """Bring a store up to date over an async connection: of aiosqlite, psycopg, asyncpg or alike."""
        steps = self._steps()
        sql: str | None = next(steps)
        while sql is not None:
            try:
                rows = await _rows(db, sql)
            except Exception as error:
                if (sql := _after_failure(steps, error)) is None:
                    raise
            else:
                sql = _after(steps, rows)

    def run_now(self, db: sqlite3.Connection) -> None:
        """The same over a plain SQLite connection in autocommit mode; another process waits meanwhile."""
        steps = self._steps()
        sql: str | None = next(steps)
        while sql is not None:
            try:
                rows = db.execute("BEGIN IMMEDIATE" if sql == "BEGIN" else sql).fetchall()
            except sqlite3.Error as error:
                if (sql := _after_failure(steps, error)) is None:
                    raise
            else:
                sql = _after(steps, rows)

    def _steps(self) -> Steps:
        """The statements, one at a time; the rows of each come back, or its error is thrown in."""
        yield "BEGIN"
        yield (
            f"CREATE TABLE IF NOT EXISTS {LEDGER}"
            " (version INTEGER PRIMARY KEY, description TEXT NOT NULL, applied_at TEXT NOT NULL)"
        )
        yield "COMMIT"
        for migration in self.migrations:
            yield "BEGIN"
            applied = yield f"SELECT version FROM {LEDGER} WHERE version = {migration.version}"
            if not applied:
                yield from _applied(migration)
            yield "COMMIT"


def _applied(migration: Migration) -> Steps:
    """Inside its transaction; after a failure nothing of it is left."""
    try:
        for statement in _statements(migration.up_sql):
            _ = yield statement  # what comes back are no rows, but it may be an error
    except Exception as error:
        yield "ROLLBACK"
        if not (_ADDS_A_COLUMN.fullmatch(migration.up_sql) and _IS_THERE.search(str(error))):
            raise
        yield "BEGIN"
    said = migration.description.replace("'", "''")
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    yield f"INSERT INTO {LEDGER} (version, description, applied_at) VALUES ({migration.version}, '{said}', '{now}')"


def _statements(sql: str) -> list[str]:
    """The single statements of a text; a semicolon inside quotes or a trigger ends none."""
    found: list[str] = []
    begun = ""
    for piece in re.split(r"(?<=;)", sql):
        begun += piece
        if sqlite3.complete_statement(begun):
            found.append(begun.strip())
            begun = ""
    return [each for each in [*found, begun.strip()] if each.strip("; \n\t")]


def _after(steps: Steps, rows: Rows) -> str | None:
    try:
        return steps.send(rows)
    except StopIteration:
        return None


def _after_failure(steps: Steps, error: Exception) -> str | None:
    """What to do about it; None when nothing is. After ROLLBACK the error comes back out of the steps."""
    try:
        return steps.throw(error)
    except StopIteration:
        return None


async def _rows(db: Any, sql: str) -> Rows:
    """The rows of a query; drivers differ in how they hand them out."""
    if not sql.startswith("SELECT"):
        await db.execute(sql)
        return []
    if hasattr(db, "fetch"):
        rows: Rows = await db.fetch(sql)
        return rows
    cursor = await db.execute(sql)
    found: Rows = await cursor.fetchall()
    return found
