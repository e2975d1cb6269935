"""Nothing is stored under a data key the vault does not have: the database itself sees to it.

A request remembers its vault's keys from its start. Should it last so long that the key it seals with was retired
meanwhile, what it wrote could never be opened again. A trigger on each sealed table holds the key's row until the
transaction that writes under it ends: a key is retired only when nobody does, and whoever comes later is refused like
by any other foreign key. A backup is restored with the keys first.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection, models
from django.db.backends.utils import CursorWrapper

from banks.models import VaultKey
from memoryhub.lib.crypto import OVERHEAD_BYTES, ROOTS_VERSION
from memoryhub.lib.sealing import SEALED_UNDER_KNOWN_KEY, sealed_columns

_HOLD = f"""
CREATE OR REPLACE FUNCTION memoryhub_hold_data_key(vault uuid, sealed bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    named text;
BEGIN
    IF sealed IS NULL OR length(sealed) < {OVERHEAD_BYTES} OR substring(sealed for 2) <> '\\x4d01' THEN
        RETURN;
    END IF;
    named := encode(substring(sealed from 3 for 4), 'hex');
    -- One look for each key and transaction.
    IF current_setting('memoryhub.holds_data_key', true) = vault || named THEN
        RETURN;
    END IF;
    PERFORM 1 FROM {VaultKey._meta.db_table} WHERE vault_id = vault AND version = ('x' || named)::bit(32)::bigint
        AND version <> {ROOTS_VERSION} FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'sealed under a data key the vault does not have'
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = '{SEALED_UNDER_KNOWN_KEY}';
    END IF;
    PERFORM set_config('memoryhub.holds_data_key', vault || named, true);
END $$
"""
_CHECK = """
CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {holds}
    RETURN NEW;
END $$
"""
_TRIGGER = """
CREATE TRIGGER {trigger} BEFORE INSERT OR UPDATE OF {columns} ON {table}
    FOR EACH ROW EXECUTE FUNCTION {function}()
"""
_NAME_MAX = 63
_ON = "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname LIKE 'sealed\\_%%'"


def guard_sealed_tables() -> int:
    """Give every sealed table that lacks it its trigger; how many got one. After migrations, and before a key goes."""
    there = set(connection.introspection.table_names())
    if VaultKey._meta.db_table not in there:
        return 0
    lacking = [
        (model, columns)
        for model, fields in sealed_columns().items()
        if model._meta.db_table in there
        and not _is_guarded(model, columns := sorted(str(field.column) for field in fields))
    ]
    with connection.cursor() as cursor:
        if lacking:
            cursor.execute(_HOLD)
        for model, columns in lacking:
            _guard(cursor, model, columns)
    return len(lacking)


def _trigger(columns: Sequence[str]) -> str:
    return ("sealed_" + "_".join(columns))[:_NAME_MAX]


def _is_guarded(model: type[models.Model], columns: Sequence[str]) -> bool:
    """Also said of a table that has not all its columns yet: a later migration brings them."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        known = {column.name for column in connection.introspection.get_table_description(cursor, table)}
    return _triggers(table) == {_trigger(columns)} or not known.issuperset(columns)


def _triggers(table: str) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(_ON, [table])
        return {name for (name,) in cursor.fetchall()}


def _guard(cursor: CursorWrapper, model: type[models.Model], columns: Sequence[str]) -> None:
    table = model._meta.db_table
    for name in _triggers(table):
        cursor.execute(f"DROP TRIGGER {name} ON {table}")
    named = {
        "table": table,
        "function": f"{table}_sealed",
        "trigger": _trigger(columns),
        "columns": ", ".join(columns),
        "holds": " ".join(f"PERFORM memoryhub_hold_data_key(NEW.vault_id, NEW.{column});" for column in columns),
    }
    cursor.execute(_CHECK.format(**named))
    cursor.execute(_TRIGGER.format(**named))
