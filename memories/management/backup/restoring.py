"""``restore``: check the file and the keys, build the store beside the present one, let it take its place."""

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

from banks.models import Vault
from banks.services.keyring import verify_keys
from memories.jobs import JobKind
from memories.management.backup.archive import CHUNK, check_tables, open_table, opened_archive, readable
from memories.management.backup.dumping import Told, applied_migrations
from memories.management.backup.manifest import BackupDamaged, BackupTooNew, Manifest, ReadManifest, Table
from memories.management.backup.swapping import refuse_running, second_store, take_place
from memories.models import Memory, MigrationRecord, VaultSpace
from memories.services.jobs import enqueue_job
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError, Kind
from memoryhub.lib.ids import new_id, short_id

_IDENTITIES = """
    SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema = current_schema() AND is_identity = 'YES'
"""
#: Columns that draw their numbers from another table's sequence.
_SHARED = """
    SELECT table_name, column_name, substring(column_default FROM '''([^'']+)''')
      FROM information_schema.columns
     WHERE table_schema = current_schema() AND is_identity = 'NO' AND column_default LIKE 'nextval(%'
"""
_CONTINUE = "SELECT setval(pg_get_serial_sequence({}, {}), coalesce(max({}), 0) + 1, false) FROM {}"


class StoreNotEmpty(HubError):
    """There is data in this store; add --replace to put the backup in its place."""

    code = "store_not_empty"
    kind = Kind.CONFLICT


def check_backup(path: Path, advance: Told, *, without_keys: bool = False) -> ReadManifest:
    """Everything that can be known without touching a database: the file is whole, our release and keys fit.

    Raises BackupDamaged, BackupTooNew, SecretsMissing, UnknownKey, WrongKey.
    """
    with opened_archive(path) as (archive, read):
        _refuse_newer(read.manifest)
        if not without_keys:
            read.check_keys()
        tables = iter(range(len(read.manifest.tables)))
        check_tables(archive, read.manifest, lambda name: advance(name, next(tables), len(read.manifest.tables)))
    return read


def refuse_unless_empty() -> None:
    """Raises StoreNotEmpty naming what is there, HubRunning while anybody else is connected."""
    refuse_running()
    if Vault._meta.db_table not in connection.introspection.table_names():
        return
    vaults, people = Vault.objects.count(), get_user_model().objects.count()
    if vaults or people:
        raise StoreNotEmpty(
            f"This store holds {vaults} vaults with {Memory.objects.count()} memories; "
            "add --replace to put the backup in their place."
        )


def restore_store(path: Path, advance: Told, *, without_keys: bool = False) -> Manifest:
    """Put a checked backup in the place of the present store; what it holds.

    The new store is built beside the old one and takes its place in one transaction: until then nothing is changed,
    and a restore that is killed leaves the old store as it was. Raises HubRunning, BackupDamaged, WrongKey.
    """
    refuse_running()
    began = now()
    with readable(path), opened_archive(path) as (archive, read), second_store() as home:
        manifest = read.manifest
        _migrate_to(manifest)
        with transaction.atomic():
            _load(archive, manifest, advance)
        call_command("migrate", interactive=False, verbosity=0)
        if not without_keys:
            verify_keys()
        MigrationRecord.objects.create(
            kind="data",
            app="memories",
            name=f"restore {short_id(new_id())}",
            description=f"Restored the backup of {manifest.created_at}.",
            state="done",
            rows_done=sum(table.rows for table in manifest.tables),
            rows_total=sum(table.rows for table in manifest.tables),
            started_at=began,
            finished_at=now(),
            duration_ms=(now() - began).total_seconds() * 1000,
        )
        _rebuild_later()
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        take_place(home)
    applied_migrations()
    return manifest


def _refuse_newer(manifest: Manifest) -> None:
    known = MigrationLoader(None).disk_migrations
    newer = [
        f"{app} {name}" for app, names in manifest.migrations.items() for name in names if (app, name) not in known
    ]
    if newer:
        raise BackupTooNew(
            f"The backup was made by a newer release of the hub (it has {newer[0]}); "
            "install that release and restore again. Nothing was changed."
        )


def _migrate_to(manifest: Manifest) -> None:
    """The tables as they were when the backup was made."""
    with connection.schema_editor() as editor:
        editor.create_model(MigrationRecorder.Migration)  # the other store's must not be taken for this one's
    executor = MigrationExecutor(connection)
    nodes = _nodes(manifest)
    graph = executor.loader.graph
    last = [node for node in nodes if not any(c.key in nodes for c in graph.node_map[node].children)]
    executor.migrate(last)


def _nodes(manifest: Manifest) -> list[tuple[str, str]]:
    return [(app, name) for app, names in manifest.migrations.items() for name in names]


def _load(archive: zipfile.ZipFile, manifest: Manifest, advance: Told) -> None:
    names = sql.SQL(", ").join(sql.Identifier(table.name) for table in manifest.tables)
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("TRUNCATE {}").format(names))
        # Their work is in the rows already.
        for table in manifest.tables:
            cursor.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(sql.Identifier(table.name)))
        for place, table in enumerate(manifest.tables):
            advance(table.name, place, len(manifest.tables))
            _load_table(archive, table)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in manifest.tables:
            cursor.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(sql.Identifier(table.name)))
        cursor.execute(_IDENTITIES)
        for name, column in cursor.fetchall():
            following = sql.SQL(
                "SELECT setval(pg_get_serial_sequence({}, {}), coalesce(max({}), 0) + 1, false) FROM {}"
            )
            quoted = sql.Literal(f'"{name}"'), sql.Literal(column), sql.Identifier(column), sql.Identifier(name)
            cursor.execute(following.format(*quoted))
        cursor.execute(_SHARED)
        for name, column, sequence in cursor.fetchall():
            following = sql.SQL(
                "SELECT setval({}, greatest((SELECT last_value FROM {}), coalesce(max({}), 0) + 1), false) FROM {}"
            )
            shared = sql.Literal(sequence), sql.Identifier(sequence), sql.Identifier(column), sql.Identifier(name)
            cursor.execute(following.format(*shared))


def _load_table(archive: zipfile.ZipFile, table: Table) -> None:
    columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
    copy_in = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table.name), columns)
    with connection.cursor() as cursor:
        with open_table(archive, table) as entry, cursor.copy(copy_in) as copy:
            while data := entry.read(CHUNK):
                copy.write(data)
        if cursor.rowcount != table.rows:
            raise BackupDamaged(f"The table {table.name} of the backup is damaged; use another copy of the file.")


def _rebuild_later() -> None:
    """Vector indexes are no rows: the next start builds them, until then searches scan exactly."""
    first_sweep = now() + dt.timedelta(seconds=1)  # no worker is there to be kicked
    for place in VaultSpace.objects.filter(has_graph=True):
        enqueue_job(place.vault_id, JobKind.KEEP_INDEX, dedupe_key="keep", due=first_sweep)
    VaultSpace.objects.filter(has_graph=True).update(has_graph=False)
