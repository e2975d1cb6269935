"""The filters of a search as a condition, put into the statements of the legs (SRC-18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import EmptyResultSet

from memories.models.memory import MemoryQuerySet
from memoryhub.lib.statements import fetch


@dataclass(frozen=True, slots=True)
class Allowed:
    """The memories a search may return: what must hold of a row of ``memories_memory``, called by that name."""

    condition: str
    params: Sequence[Any]
    #: Whether a filter among them has an index and, as a rule, leaves few.
    is_narrow: bool = False


def allowed(rows: MemoryQuerySet) -> Allowed | None:
    """The rows as a condition; None when no row can match."""
    query = rows.order_by().values("pk").query
    try:
        sql, params = query.sql_with_params()
        if sum(map(bool, query.alias_refcount.values())) > 1:
            return Allowed(f"memories_memory.id IN ({sql})", params)
        return Allowed(*query.get_compiler(using=rows.db).compile(query.where))
    except EmptyResultSet:
        return None


def run(
    statement: str, rows: Allowed, named: Mapping[str, Any], *, prepare: bool | None = None
) -> list[tuple[Any, ...]]:
    """Run a statement of a leg with its own parameters, those of the filters named apart.

    ``<passes>`` in it is the filters' condition on a row of memories_memory, ``<allowed>`` the subquery of all ids
    that meet it. Values travel as they are stored: several times faster for arrays and vectors. A statement is planned
    once per connection where that is allowed; ``prepare=False`` plans it for its values each time.
    """
    names = [f"allowed_{place}" for place in range(len(rows.params))]
    pieces = rows.condition.split("%s")
    condition = "".join(piece + (f"%({names[n]})s" if n < len(names) else "") for n, piece in enumerate(pieces))
    whole = statement.replace("<allowed>", "SELECT memories_memory.id FROM memories_memory WHERE <passes>")
    values = {**named, **dict(zip(names, rows.params, strict=True))}
    return fetch(whole.replace("<passes>", f"({condition})"), values, prepare=prepare)
