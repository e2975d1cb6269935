"""Database constraints that keep every row inside its vault.

A child points at its parent by ``(vault_id, parent_id)``, so no statement, whoever wrote it, can make it point into
another vault. Django's own single-column constraint is switched off for such a key (``db_constraint=False``), and for
the vault of a row that has such a parent: the parent's vault is its own.
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db import models
from django.db.backends.ddl_references import Statement
from django.db.models.constraints import BaseConstraint


def owned_by_vault(name: str) -> models.UniqueConstraint:
    """The ``UNIQUE (vault_id, id)`` that children refer to."""
    return models.UniqueConstraint(fields=["vault", "id"], name=f"{name}_vault_id_id")


class VaultReference(BaseConstraint):
    """``FOREIGN KEY (vault_id, <field>_id) REFERENCES <to> (vault_id, id)``, checked at commit."""

    def __init__(self, *, field: str, to: str, name: str) -> None:
        super().__init__(name=name)
        self.field, self.to, self.label = field, to, name

    def constraint_sql(self, model: Any, schema_editor: Any) -> Any:
        return self.create_sql(model, schema_editor)

    def create_sql(self, model: Any, schema_editor: Any) -> Any:
        # Deferred to the end of the migration: the parent's table or unique constraint may come later in it.
        schema_editor.deferred_sql.append(self._statement(model, schema_editor))

    def _statement(self, model: Any, schema_editor: Any) -> Statement:
        quote = schema_editor.quote_name
        target = apps.get_model(self.to)._meta.db_table
        column = model._meta.get_field(self.field).column
        return Statement(
            "ALTER TABLE %(table)s ADD CONSTRAINT %(name)s FOREIGN KEY (%(vault)s, %(column)s) "
            "REFERENCES %(target)s (%(vault)s, %(id)s) DEFERRABLE INITIALLY DEFERRED",
            table=quote(model._meta.db_table),
            name=quote(self.label),
            vault=quote("vault_id"),
            column=quote(column),
            target=quote(target),
            id=quote("id"),
        )

    def remove_sql(self, model: Any, schema_editor: Any) -> Any:
        quote = schema_editor.quote_name
        return Statement(
            "ALTER TABLE %(table)s DROP CONSTRAINT %(name)s",
            table=quote(model._meta.db_table),
            name=quote(self.label),
        )

    def validate(self, model: Any, instance: Any, exclude: Any = None, using: str = "default") -> None:
        """Left to the database, which sees concurrent writes."""

    def deconstruct(self) -> tuple[str, tuple[()], dict[str, Any]]:
        path, _, kwargs = super().deconstruct()
        return path, (), {**kwargs, "field": self.field, "to": self.to}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VaultReference):
            return NotImplemented
        return (self.name, self.field, self.to) == (other.name, other.field, other.to)

    def __hash__(self) -> int:
        return hash((self.name, self.field, self.to))
