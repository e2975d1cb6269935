"""The runner over real databases: SQLite and PostgreSQL (TST-05)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from memoryhub.client import Migration, MigrationRunner

TABLE = Migration(version=1, description="Initial schema", up_sql="CREATE TABLE lore (id INTEGER, told TEXT)")
COLUMN = Migration(version=2, description="Ben's column", up_sql="ALTER TABLE lore ADD COLUMN category TEXT")
ROWS = Migration(
    version=3, description="Two rows", up_sql="INSERT INTO lore (id, told) VALUES (1, 'a;b'); UPDATE lore SET id = 2"
)


class AsyncSqlite:
    """The part of aiosqlite the runner uses, over a plain connection."""

    def __init__(self) -> None:
        self.file = sqlite3.connect(":memory:")
        self.executed: list[str] = []

    def __del__(self) -> None:
        self.file.close()

    async def execute(self, sql: str) -> AsyncSqlite:
        self.executed.append(sql)
        self.cursor = self.file.execute(sql)
        return self

    async def fetchall(self) -> list[Any]:
        return self.cursor.fetchall()


@asynccontextmanager
async def postgres() -> AsyncIterator[Any]:
    """A schema of its own in the tests' database, gone afterwards."""
    base = settings.DATABASES["default"]
    name = connection.settings_dict["NAME"]
    to = {"host": base["HOST"], "port": base["PORT"] or None, "user": base["USER"], "password": base["PASSWORD"]}
    async with await psycopg.AsyncConnection.connect(dbname=name, **{k: v for k, v in to.items() if v}) as db:
        await db.execute("CREATE SCHEMA runner_test")
        await db.execute("SET search_path TO runner_test")
        await db.commit()
        try:
            yield db
        finally:
            await db.rollback()
            await db.execute("DROP SCHEMA runner_test CASCADE")
            await db.commit()


async def rows(db: Any, sql: str) -> list[Any]:
    return [tuple(row) for row in await (await db.execute(sql)).fetchall()]


async def versions(db: Any) -> list[int]:
    return [row[0] for row in await rows(db, "SELECT version FROM _memory_migrations ORDER BY version")]


async def check(db: Any) -> None:
    await MigrationRunner([ROWS, COLUMN, TABLE]).run(db)
    assert await versions(db) == [1, 2, 3]
    assert await rows(db, "SELECT id, told, category FROM lore") == [(2, "a;b", None)]
    noted = await rows(db, "SELECT description, applied_at FROM _memory_migrations WHERE version = 2")
    assert noted[0][0] == "Ben's column" and noted[0][1].startswith("20")
    await MigrationRunner([TABLE, COLUMN, ROWS]).run(db)
    assert await rows(db, "SELECT count(*) FROM lore") == [(1,)]


def test_from_nothing_in_order_and_again_on_sqlite():
    """MIG-01…05: the ledger is made, versions are applied in order, once."""
    asyncio.run(check(AsyncSqlite()))


@pytest.mark.django_db
def test_from_nothing_in_order_and_again_on_postgresql():
    async def use() -> None:
        async with postgres() as db:
            await check(db)
            created = Migration(version=4, description="It was created with it", up_sql=COLUMN.up_sql)
            await MigrationRunner([TABLE, COLUMN, ROWS, created]).run(db)
            assert await versions(db) == [1, 2, 3, 4]

    asyncio.run(use())


def test_a_version_that_comes_late_is_not_lost():
    """DEF-13."""

    async def use() -> None:
        db = AsyncSqlite()
        await MigrationRunner([TABLE, ROWS]).run(db)
        await MigrationRunner([TABLE, COLUMN, ROWS]).run(db)
        assert await versions(db) == [1, 2, 3]

    asyncio.run(use())


def test_a_store_created_with_the_column():
    """DEF-14: version 1 only records the baseline."""

    async def use() -> None:
        db = AsyncSqlite()
        await db.execute("CREATE TABLE lore (id INTEGER, told TEXT, category TEXT)")
        baseline = Migration(version=1, description="Initial schema", up_sql="")
        await MigrationRunner([baseline, COLUMN]).run(db)
        assert await versions(db) == [1, 2]

    asyncio.run(use())


def test_a_step_that_fails_leaves_nothing_of_itself():
    """Each is one transaction; what came before it stays."""
    broken = Migration(version=2, description="Breaks", up_sql="INSERT INTO lore (id) VALUES (1); SELECT nonsense;")

    async def use() -> None:
        db = AsyncSqlite()
        with pytest.raises(sqlite3.OperationalError, match="nonsense"):
            await MigrationRunner([TABLE, broken]).run(db)
        assert await versions(db) == [1]
        assert await rows(db, "SELECT count(*) FROM lore") == [(0,)]
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            await MigrationRunner([Migration(version=5, description="Again", up_sql=TABLE.up_sql)]).run(db)

    asyncio.run(use())
    with pytest.raises(ValueError, match="same version"):
        MigrationRunner([TABLE, TABLE])
