"""``backup``: one consistent snapshot of the store, also while the hub writes into it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from banks.models import KeyCheck, Vault, VaultKey
from banks.services.keyring import verify_keys
from memories.management.backup.archive import add_manifest, add_table, written_archive
from memories.management.backup.manifest import Manifest, Table, pepper_check
from memories.models import Memory, Message
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError, Kind

#: Whoever was logged in logs in again; a stolen backup opens nobody's session.
LEFT_OUT = {"django_session"}
type Told = Callable[[str, int, int], None]


class NothingToBackUp(HubError):
    """There is no store to back up yet; start the hub once with `manage.py up`."""

    code = "nothing_to_back_up"
    kind = Kind.NOT_FOUND


class StoreTooNew(HubError):
    """The store was written by a newer release of the hub; use that release."""

    code = "store_too_new"
    kind = Kind.CONFLICT


def back_up_store(path: Path, advance: Told, *, overwrite: bool = False) -> Manifest:
    """Write everything but keys and login sessions into one file; the manifest it ends with.

    ``advance`` is told table, tables done and tables in all. The keys are checked first: a backup made under a wrong
    key could never be opened. Raises SecretsMissing, UnknownKey, WrongKey, NothingToBackUp, FileUnwritable.
    """
    migrations = applied_migrations()
    verify_keys()
    tables = _tables_of(migrations)
    with written_archive(path, overwrite=overwrite) as archive, transaction.atomic():
        with connection.cursor() as cursor:
            # Everything below sees the store as it is at this moment, and blocks nobody.
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        written: list[Table] = []
        for place, (name, columns) in enumerate(tables.items()):
            advance(name, place, len(tables))
            written.append(_dumped(archive, name, columns))
        manifest = _manifest(migrations, written)
        add_manifest(archive, manifest)
    return manifest


def applied_migrations() -> dict[str, list[str]]:
    """App → migrations the store has had. Raises NothingToBackUp, StoreTooNew."""
    loader = MigrationLoader(connection)
    applied: dict[str, list[str]] = {}
    for app, name in sorted(loader.applied_migrations):
        if (app, name) not in loader.disk_migrations:
            raise StoreTooNew
        applied.setdefault(app, []).append(name)
    if "memories" not in applied:
        raise NothingToBackUp
    return applied


def _tables_of(migrations: dict[str, list[str]]) -> dict[str, list[str]]:
    """Table → columns, as the applied migrations left them: the store may be older than this release."""
    nodes = [(app, name) for app, names in migrations.items() for name in names]
    state = MigrationLoader(None).project_state(nodes)
    models: list[Any] = [model for model in state.apps.get_models(include_auto_created=True) if model._meta.managed]
    tables = {model._meta.db_table: [field.column for field in model._meta.concrete_fields] for model in models}
    return {name: columns for name, columns in sorted(tables.items()) if name not in LEFT_OUT}


def _dumped(archive: zipfile.ZipFile, name: str, columns: list[str]) -> Table:
    copy_out = sql.SQL("COPY {} ({}) TO STDOUT").format(
        sql.Identifier(name), sql.SQL(", ").join(map(sql.Identifier, columns))
    )

    def rows() -> Iterator[bytes]:
        with connection.cursor() as cursor, cursor.copy(copy_out) as copy:
            for data in copy:
                yield bytes(data)

    return add_table(archive, name, columns, rows())


def _manifest(migrations: dict[str, list[str]], tables: list[Table]) -> Manifest:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        version = str(cursor.fetchone()[0])
    return Manifest(
        created_at=now().isoformat(),
        postgres=version,
        migrations=migrations,
        checks={str(check.pk): bytes(check.value).hex() for check in KeyCheck.objects.order_by("pk")},
        needed=sorted(set(VaultKey.objects.values_list("master_key_id", flat=True))),
        pepper_check=pepper_check().hex(),
        counts={model.__name__.lower(): model._default_manager.count() for model in (Vault, Memory, Message)},
        tables=tables,
    )
