"""A second store beside the first, in a schema of its own, and the one transaction in which it takes its place.

Whatever goes wrong before that transaction commits, the store that was there is still there, untouched.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from psycopg import sql

from memoryhub.lib.errors import HubError, Kind

BUILDING = "memoryhub_restoring"
_EXTENSIONS = "CREATE EXTENSION IF NOT EXISTS vector"
_OTHERS = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'memoryhub %%' AND pid <> pg_backend_pid()
"""
_TABLES = "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r' ORDER BY relname"
_FUNCTIONS = """
    SELECT proname, pg_get_function_identity_arguments(oid) FROM pg_proc WHERE pronamespace = %s::regnamespace
"""


class HubRunning(HubError):
    """The hub is running on this store; stop it, then restore."""

    code = "hub_running"
    kind = Kind.CONFLICT


def refuse_running() -> None:
    """Raises HubRunning while any other process of the hub is connected to this database."""
    others = _column(_OTHERS, [])[0]
    if others:
        raise HubRunning(
            f"The hub is using this database ({others} connections); stop it (and other commands), then restore."
        )


@contextmanager
def second_store() -> Iterator[str]:
    """Inside, every statement means the tables of an empty schema of its own; the name of the one that is left alone.

    The schema is gone afterwards, unless `take_place` made it the store.
    """
    with connection.cursor() as cursor:
        cursor.execute(_EXTENSIONS)  # in the store's own schema, which the second one shares
        cursor.execute(f"DROP SCHEMA IF EXISTS {BUILDING} CASCADE")
        cursor.execute(f"CREATE SCHEMA {BUILDING}")
    path: list[str] = _column("SELECT current_schemas(false)", [])[0]
    options: dict[str, Any] = connection.settings_dict["OPTIONS"]
    usual = options.get("options", "")
    # Said to every connection, so that one that has to be made anew cannot write into the wrong store.
    options["options"] = f"{usual} -c search_path={','.join([BUILDING, *path])}".strip()
    connection.close()
    try:
        yield path[0]
    finally:
        connection.close()
        options["options"] = usual
        with connection.cursor() as cursor:
            cursor.execute(f"DROP SCHEMA IF EXISTS {BUILDING} CASCADE")


def take_place(home: str) -> None:
    """The second store becomes the store and the one before is dropped, in one transaction. Raises HubRunning."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '10s'")
        refuse_running()
        tables = _column(_TABLES, [BUILDING])
        there = sorted(set(_column(_TABLES, [home])) & set(tables))
        if there:
            cursor.execute(sql.SQL("DROP TABLE {}").format(sql.SQL(", ").join(sql.Identifier(home, t) for t in there)))
        cursor.execute(_FUNCTIONS, [BUILDING])
        for name, arguments in cursor.fetchall():
            for statement in ("DROP FUNCTION IF EXISTS {home}({args})", "ALTER FUNCTION {new}({args}) SET SCHEMA {to}"):
                cursor.execute(
                    sql.SQL(statement).format(
                        home=sql.Identifier(home, name),
                        new=sql.Identifier(BUILDING, name),
                        args=sql.SQL(arguments),
                        to=sql.Identifier(home),
                    )
                )
        for table in tables:
            moved = sql.SQL("ALTER TABLE {} SET SCHEMA {}")
            cursor.execute(moved.format(sql.Identifier(BUILDING, table), sql.Identifier(home)))
        cursor.execute(f"DROP SCHEMA {BUILDING}")


def _column(statement: str, values: list[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [row[0] for row in cursor.fetchall()]
