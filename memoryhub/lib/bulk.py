"""Insert many rows at once with COPY: three times as fast as building one long INSERT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models

#: Below this, one INSERT is one round trip less.
COPY_FROM = 16


def insert_rows(rows: Sequence[models.Model]) -> None:
    """Insert rows of one model in the running transaction; sealed fields are sealed, no signals are sent.

    Raises IntegrityError like any insert.
    """
    if len(rows) < COPY_FROM:
        if rows:
            type(rows[0])._default_manager.bulk_create(rows)
        return
    model = type(rows[0])
    fields = [field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in fields)
    statement = f"COPY {quote(model._meta.db_table)} ({columns}) FROM STDIN"
    # Values are prepared before the database starts waiting for them.
    prepared = [[_value(field, row) for field in fields] for row in rows]
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        for values in prepared:
            copy.write_row(values)
    for row in rows:
        row._state.adding, row._state.db = False, connection.alias


def _value(field: models.Field[Any, Any], row: models.Model) -> Any:
    value = field.pre_save(row, add=True)
    # An array of plain values needs no preparation per element, and has many.
    return value if isinstance(field, ArrayField) else field.get_db_prep_save(value, connection)
