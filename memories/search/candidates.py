"""The filters of a search as a subquery, put into the statements of the legs (SRC-18)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from psycopg import Cursor

from memories.models.memory import MemoryQuerySet


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


def run(statement: str, rows: Allowed, named: dict[str, Any], *, binary: bool = False) -> list[tuple[Any, ...]]:
    """Run a statement whose ``<allowed>`` is the filters' subquery, with its own parameters named apart.

    ``binary``: values travel as they are stored; several times faster for arrays and vectors.
    """
    names = [f"allowed_{place}" for place in range(len(rows.params))]
    pieces = rows.sql.split("%s")
    subquery = "".join(piece + (f"%({names[n]})s" if n < len(names) else "") for n, piece in enumerate(pieces))
    whole = statement.replace("<allowed>", subquery)
    values = {**named, **dict(zip(names, rows.params, strict=True))}
    if not binary:
        with connection.cursor() as cursor:
            cursor.execute(whole, values)
            return list(cursor.fetchall())
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        # Django binds parameters on this side, and its own cursors read text only.
        cursor.execute(connection.connection.cursor().mogrify(whole, values), binary=True)
        return list(cursor.fetchall())
