"""From one data key to the next, table by table: plain statements, because every row of a vault passes through.

A value is replaced only while it is still the ciphertext that was read: who writes meanwhile wins, and is met again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db import connection, models
from psycopg import Cursor

from memoryhub.lib.crypto import OVERHEAD_BYTES, TAG_BYTES, DecryptionError, UnknownKey, VaultKeys, key_version
from memoryhub.lib.sealing import SealedField, associated_data, sealed_columns
from memoryhub.lib.statements import fetch

#: Header and nonce: a random nonce names its ciphertext as well as the ciphertext itself.
_OPENING = OVERHEAD_BYTES - TAG_BYTES


@dataclass(frozen=True)
class StaleRow:
    """A row with a value under an older key: its id and its sealed values, in the order of the table's fields."""

    pk: UUID
    values: tuple[bytes | None, ...]


@dataclass(frozen=True)
class SealedTable:
    """A table and its sealed fields, for one vault."""

    model: type[models.Model]
    fields: Sequence[SealedField]
    vault_id: UUID

    @cached_property
    def _table(self) -> str:
        return str(self.model._meta.db_table)

    @cached_property
    def _columns(self) -> list[str]:
        return [str(field.column) for field in self.fields]

    @cached_property
    def _stale(self) -> str:
        """A condition: some value is an envelope that names another version than ``%(newest)s``."""
        return " OR ".join(
            f"(length({column}) >= {OVERHEAD_BYTES} AND substring({column} for 2) = '\\x4d01'"
            f" AND substring({column} from 3 for 4) <> %(newest)s)"
            for column in self._columns
        )

    def count(self, newest: int) -> int:
        """How many rows hold something under another key than the newest."""
        statement = f"SELECT count(*) FROM {self._table} WHERE vault_id = %(vault)s AND ({self._stale})"
        return int(fetch(statement, {"vault": self.vault_id, "newest": _packed(newest)})[0][0])

    def versions(self) -> set[int]:
        """Every key version some value names, read from the envelopes themselves."""
        each = " UNION ".join(
            f"SELECT substring({column} from 3 for 4) FROM {self._table} WHERE vault_id = %(vault)s"
            f" AND length({column}) >= {OVERHEAD_BYTES} AND substring({column} for 2) = '\\x4d01'"
            for column in self._columns
        )
        return {int.from_bytes(version) for (version,) in fetch(each, {"vault": self.vault_id})}

    def stale_rows(self, newest: int, after: UUID, limit: int) -> list[StaleRow]:
        """The next rows, by id, that hold something under another key than the newest."""
        statement = (
            f"SELECT id, {', '.join(self._columns)} FROM {self._table}"
            f" WHERE vault_id = %(vault)s AND id > %(after)s AND ({self._stale}) ORDER BY id LIMIT %(limit)s"
        )
        asked = {"vault": self.vault_id, "after": after, "newest": _packed(newest), "limit": limit}
        return [StaleRow(row[0], row[1:]) for row in fetch(statement, asked)]

    def resealed(self, keys: VaultKeys, row: StaleRow) -> StaleRow | None:
        """The row under the newest key; None when a value does not open, and is better left as it is."""
        try:
            values = [
                self._resealed(keys, field, row.pk, old) for field, old in zip(self.fields, row.values, strict=True)
            ]
        except (DecryptionError, UnknownKey):
            return None
        return StaleRow(row.pk, tuple(values))

    def _resealed(self, keys: VaultKeys, field: SealedField, pk: UUID, old: bytes | None) -> bytes | None:
        if old is None or len(old) < OVERHEAD_BYTES or key_version(old) == keys.active:
            return old
        aad = associated_data(field, self.vault_id, pk)
        return keys.seal(keys.unseal(old, aad), aad)

    def replace(self, old: Sequence[StaleRow], new: Sequence[StaleRow]) -> int:
        """Store ``new`` where the rows are still as ``old`` says; how many were. In the running transaction."""
        places = range(len(self._columns))
        names = [f"was{place}" for place in places] + [f"new{place}" for place in places]
        sets = ", ".join(f"{column} = given.new{place}" for place, column in enumerate(self._columns))
        same = " AND ".join(
            f"substring(t.{column} for {_OPENING}) IS NOT DISTINCT FROM was{place}"
            for place, column in enumerate(self._columns)
        )
        statement = (
            f"UPDATE {self._table} t SET {sets}"
            f" FROM unnest(%b::uuid[]{', %b::bytea[]' * len(names)}) AS given(id, {', '.join(names)})"
            f" WHERE t.vault_id = %b AND t.id = given.id AND {same}"
        )
        openings: list[list[Any]] = [[(row.values[place] or b"")[:_OPENING] or None for row in old] for place in places]
        columns = openings + [[row.values[place] for row in new] for place in places]
        with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
            cursor.execute(statement, [[row.pk for row in new], *columns, self.vault_id])
            return cursor.rowcount


def sealed_tables(vault_id: UUID) -> list[SealedTable]:
    """Every table with sealed values, found by looking at the models: none can be forgotten."""
    return [SealedTable(model, fields, vault_id) for model, fields in sealed_columns().items()]


def _packed(version: int) -> bytes:
    return version.to_bytes(4)
