"""Insert rows quickly: one plain INSERT for a few, COPY for many.

Building the statement through the query builder costs more than the database needs to execute it; here it is built
once per model. Fields are prepared as ``save()`` would, so sealed ones are sealed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models.base import ModelState
from pgvector.django import HalfVectorField

from memoryhub.lib.halves import halfvec_text

#: The driver takes these as they are; asking the field costs more than sending the value.
_PLAIN = {
    models.BooleanField,
    models.CharField,
    models.DateTimeField,
    models.ForeignKey,
    models.IntegerField,
    models.PositiveIntegerField,
    models.PositiveSmallIntegerField,
    models.UUIDField,
}
#: Below this, one INSERT is a round trip less.
COPY_FROM = 16


def new_row[Row: models.Model](model: type[Row], **values: Any) -> Row:
    """A row to insert, its values by their columns' attributes, all of them: no defaults, no signals, no checks.

    A model's own constructor costs as much as sealing what it holds, and a batch makes several rows for each memory.
    """
    row = model.__new__(model)
    row.__dict__.update(values, _state=ModelState())
    return row


def insert_rows(rows: Sequence[models.Model]) -> None:
    """Insert rows of one model in the running transaction; no signals are sent, automatic ids are not read back.

    Raises IntegrityError like any insert.
    """
    if not rows:
        return
    model = type(rows[0])
    fields = _columns(model)
    # Values are prepared before the database starts waiting for them.
    prepared = [[row.__dict__[name] if plain else _value(field, row) for name, plain, field in fields] for row in rows]
    with connection.cursor() as cursor, connection.wrap_database_errors:
        if len(rows) < COPY_FROM:
            cursor.execute(_insert(model, len(rows)), [value for values in prepared for value in values])
        else:
            with cursor.copy(f"COPY {_target(model)} FROM STDIN") as copy:
                for values in prepared:
                    copy.write_row(values)
    for row in rows:
        row._state.adding, row._state.db = False, connection.alias


@cache
def _fields(model: type[models.Model]) -> list[models.Field[Any, Any]]:
    return [field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]


@cache
def _columns(model: type[models.Model]) -> list[tuple[str, bool, models.Field[Any, Any]]]:
    """The name of each field's value in a row, whether the driver takes it as it is, and the field."""
    return [(field.attname, type(field) in _PLAIN, field) for field in _fields(model)]


@cache
def _target(model: type[models.Model]) -> str:
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in _fields(model))
    return f"{quote(model._meta.db_table)} ({columns})"


@cache
def _insert(model: type[models.Model], count: int) -> str:
    casts = ", ".join(f"%s::{field.db_type(connection)}" for field in _fields(model))
    return f"INSERT INTO {_target(model)} VALUES " + ", ".join([f"({casts})"] * count)


def _value(field: models.Field[Any, Any], row: models.Model) -> Any:
    value = field.pre_save(row, add=True)
    if isinstance(field, HalfVectorField):
        return halfvec_text(value)
    # An array of plain values needs no preparation per element, and has many.
    return value if isinstance(field, ArrayField) else field.get_db_prep_save(value, connection)
