"""The filters of a search as a subquery, put into the statements of the legs (SRC-18)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection

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


def run(statement: str, rows: Allowed, named: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Run a statement whose ``<allowed>`` is the filters' subquery, with its own parameters named apart."""
    names = [f"allowed_{place}" for place in range(len(rows.params))]
    pieces = rows.sql.split("%s")
    subquery = "".join(piece + (f"%({names[n]})s" if n < len(names) else "") for n, piece in enumerate(pieces))
    with connection.cursor() as cursor:
        cursor.execute(
            statement.replace("<allowed>", subquery), {**named, **dict(zip(names, rows.params, strict=True))}
        )
        return list(cursor.fetchall())
