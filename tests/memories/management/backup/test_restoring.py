"""R17: what a backup holds comes back as it was; what cannot be trusted is refused before anything is changed."""

from __future__ import annotations

import base64
import json
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from banks.access.keyring import WrongKey, master_keys
from banks.models import Vault
from memories.management.backup.dumping import LEFT_OUT, back_up_store
from memories.management.backup.manifest import BackupDamaged, BackupTooNew, Manifest, Table
from memories.management.backup.restoring import StoreNotEmpty, check_backup, refuse_unless_empty, restore_store
from memories.management.backup.swapping import BUILDING, HubRunning
from memories.management.wholefile import FileUnwritable
from memories.models import Job, Memory, MigrationRecord, VaultSpace
from memoryhub import env as environment
from memoryhub.lib.crypto import UnknownKey
from memoryhub.lib.sealing import gate
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


def quietly(step: str, done: int, total: int) -> None:
    """Nobody watches."""


def dump() -> dict[str, list[str]]:
    """Every row of every table, in one order."""
    left_out = {*LEFT_OUT, "django_migrations", "memories_migrationrecord"}
    with connection.cursor() as cursor:
        tables = sorted(set(connection.introspection.table_names(cursor)) - left_out)
        found = {}
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" t ORDER BY 1')
            found[table] = [row[0] for row in cursor.fetchall()]
    return found


@pytest.fixture
def filled(vault: Vault) -> Vault:
    """A little of everything."""
    access = factories.operator(vault)
    first = factories.remember(access, "Mara keeps the spare key under the blue pot.", tags=["home"], extra={"a": 1})
    factories.write(access, "Mara keeps the spare key with her neighbour.", supersedes=str(first.pk))
    factories.converse(access, "s1", "I moved to Linz.\nIt is nice\\ here.", {"role": "ai", "content": "Noted \t✓."})
    factories.make_key(access)
    VaultSpace.objects.filter(vault_id=vault.pk).update(has_graph=True)
    return vault


@pytest.fixture
def backup(filled: Vault, tmp_path: Path) -> Path:
    """A backup of it."""
    back_up_store(tmp_path / "hub.backup", quietly)
    return tmp_path / "hub.backup"


@pytest.fixture
def secrets_become(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Lets a test run with another environment, as another hub would."""

    def forget() -> None:
        for remembered in (environment.environment, environment.secrets, master_keys):
            remembered.cache_clear()

    def become(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        forget()

    yield become
    monkeypatch.undo()
    forget()


@pytest.mark.slow
def test_what_is_restored_is_what_was_backed_up(backup: Path, filled: Vault):
    """Equal rows in every table, content opens, sequences go on, and the ledger says that it happened."""
    with gate.session():
        access = factories.operator(filled)
        before = dump()
        factories.remember(access, "Written after the backup.")
        Memory.objects.filter(vault_id=filled.pk).earliest("created_at").delete()
    restore_store(backup, quietly)
    after = dump()
    changed = {name for name in before if after[name] != before[name]}
    # The vault for its configuration's version, a tally for the job that waits.
    assert changed == {"memories_vaultspace", "memories_job", "memories_tally", "banks_vault"}
    # A vector index is no row: searches scan exactly until the job that waits has built it again.
    assert not VaultSpace.objects.filter(vault_id=filled.pk, has_graph=True).exists()
    assert Job.objects.filter(vault_id=filled.pk, kind="keep_index", state="pending").exists()
    assert MigrationRecord.objects.filter(name__startswith="restore ", state="done").exists()
    with gate.session():
        access = factories.operator(filled)
        contents = {memory.content for memory in Memory.objects.filter(vault_id=filled.pk)}
        assert "Mara keeps the spare key under the blue pot." in contents
        factories.remember(access, "Written after the restore.")
    with pytest.raises(StoreNotEmpty, match="add --replace"):
        refuse_unless_empty()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_namespace WHERE nspname = %s", [BUILDING])
        assert cursor.fetchone() == (0,)


@pytest.mark.slow
def test_a_backup_of_an_older_schema_is_migrated_forward(backup: Path, tmp_path: Path, filled: Vault):
    """The file knows only the first migrations of some app; the restored store has all of them."""

    def before_staged_names(told: dict[str, Any]) -> None:
        migrations = told["migrations"]["memories"]
        told["migrations"]["memories"] = migrations[: migrations.index("0029_staged_names")]
        (chunks,) = (table for table in told["tables"] if table["name"] == "memories_importchunk")
        assert chunks["rows"] == 0
        chunks["columns"].remove("names")

    before = dump()
    old = tmp_path / "old.backup"
    rewrite(backup, old, before_staged_names)
    restore_store(old, quietly)
    assert dump().keys() == before.keys()
    assert len(dump()["memories_memory"]) == len(before["memories_memory"])


def rewrite(source: Path, target: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """The same backup with another manifest, signed as the hub would sign it."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        told = json.loads(old.read("manifest.json"))["manifest"]
        change(told)
        told["tables"] = [Table(**table) for table in told["tables"]]
        for name in old.namelist():
            new.writestr(name, Manifest(**told).written() if name == "manifest.json" else old.read(name))


def test_the_file_is_private_and_holds_no_text_and_no_key(backup: Path):
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with zipfile.ZipFile(backup) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    for hidden in (b"blue pot", b"Linz", master_keys().get(1).hex().encode(), environment.secrets().pepper):
        assert hidden not in everything
    assert b"home" in everything  # labels are clear, in the store and here


def test_a_file_that_is_there_stays(backup: Path):
    with pytest.raises(FileUnwritable, match="already there"):
        back_up_store(backup, quietly)
    back_up_store(backup, quietly, overwrite=True)
    assert check_backup(backup, quietly).manifest.counts["memory"] == 2
    assert [each.name for each in backup.parent.iterdir()] == [backup.name]


def test_a_snapshot_does_not_see_what_is_written_meanwhile(filled: Vault, tmp_path: Path):
    """The hub writes on while a backup runs: counts and rows are of one moment."""
    seen = []

    def write_meanwhile(step: str, done: int, total: int) -> None:
        if done == 1:
            with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": None}) as other:
                other.execute("INSERT INTO banks_keycheck (id, value, created_at) VALUES (77, 'x', now())")
            seen.append(step)

    manifest = back_up_store(tmp_path / "b", write_meanwhile)
    assert seen
    assert "77" not in manifest.checks


def test_other_keys_are_refused_by_their_id_and_another_pepper_is_noticed(
    backup: Path, secrets_become: Callable[..., None]
):
    assert not check_backup(backup, quietly).names_other_pepper()
    secrets_become(MEMORYHUB_PEPPER="another pepper, 32 characters and more")
    assert check_backup(backup, quietly).names_other_pepper()
    other = base64.b64encode(b"x" * 32).decode()
    secrets_become(MEMORYHUB_KEYS=f"1:{other}")
    with pytest.raises(WrongKey, match=r"key 1 .* nothing was changed"):
        check_backup(backup, quietly)
    secrets_become(MEMORYHUB_KEYS=f"2:{other}")
    with pytest.raises(UnknownKey, match="key 1, which is not here"):
        check_backup(backup, quietly)
    assert check_backup(backup, quietly, without_keys=True).manifest.needed == [1]


def test_truncated_and_changed_files_are_refused(backup: Path):
    whole = backup.read_bytes()
    for share in (0.0, 0.3, 0.9, 0.999):
        backup.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(BackupDamaged):
            check_backup(backup, quietly)
    backup.write_bytes(whole)
    with zipfile.ZipFile(backup) as archive:
        largest = sorted(archive.infolist(), key=lambda entry: -entry.compress_size)[:3]
    for entry in largest:  # in what it holds: the date of an entry may change without harm
        changed = bytearray(whole)
        changed[entry.header_offset + 30 + len(entry.filename) + entry.compress_size // 2] ^= 0x55
        backup.write_bytes(changed)
        with pytest.raises(BackupDamaged):
            check_backup(backup, quietly)


def test_an_edited_backup_does_not_bear_the_signature(backup: Path, tmp_path: Path):
    edited = tmp_path / "edited"
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(edited, "w") as new:
        for name in old.namelist():
            body = old.read(name)
            new.writestr(name, body.replace(b'"rows":0', b'"rows":1', 1) if name == "manifest.json" else body)
    with pytest.raises(BackupDamaged, match="signature"):
        check_backup(edited, quietly)


def test_a_newer_release_s_backup_is_refused(backup: Path, tmp_path: Path):
    newer = tmp_path / "newer"
    rewrite(backup, newer, lambda told: told["migrations"]["memories"].append("9999_from_the_future"))
    with pytest.raises(BackupTooNew, match="9999_from_the_future"):
        check_backup(newer, quietly)


def test_nothing_is_restored_under_a_running_hub(backup: Path):
    with (
        psycopg.connect(**connection.get_connection_params() | {"application_name": "memoryhub web"}),
        pytest.raises(HubRunning, match="1 connections"),
    ):
        restore_store(backup, quietly)


def test_a_file_that_is_not_there_or_no_backup_is_one_sentence(tmp_path: Path):
    with pytest.raises(BackupDamaged, match="no file"):
        check_backup(tmp_path / "none", quietly)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(BackupDamaged, match="damaged, incomplete or no backup"):
        check_backup(tmp_path / "text", quietly)
