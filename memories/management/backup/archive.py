"""The file: a zip of one entry per table, the manifest last; written whole or not at all, for its owner only."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from memories.management.backup.manifest import BackupDamaged, Manifest, ReadManifest, Table, read_manifest
from memories.management.wholefile import whole_file

MANIFEST = "manifest.json"
MANIFEST_BYTES = 16 * 1024 * 1024
CHUNK = 1 << 20


@contextmanager
def written_archive(path: Path, *, overwrite: bool = False) -> Iterator[zipfile.ZipFile]:
    """A zip that appears under ``path`` when the block ends well. Raises FileUnwritable."""
    with (
        whole_file(path, overwrite=overwrite) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        yield archive


def add_table(archive: zipfile.ZipFile, name: str, columns: list[str], rows: Iterator[bytes]) -> Table:
    """Write one table's rows, each a line of PostgreSQL's text format; the table as the manifest names it."""
    digest, count = hashlib.sha256(), 0
    with archive.open(_entry(name), "w", force_zip64=True) as entry:
        for data in rows:
            entry.write(data)
            digest.update(data)
            count += data.count(b"\n")
    return Table(name, columns, count, digest.hexdigest())


def add_manifest(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    """The last thing written."""
    archive.writestr(MANIFEST, manifest.written())


@contextmanager
def opened_archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, ReadManifest]]:
    """The file and its manifest. Raises BackupDamaged in one sentence, whatever is wrong with it."""
    with readable(path), path.open("rb") as file, zipfile.ZipFile(file) as archive:
        if archive.getinfo(MANIFEST).file_size > MANIFEST_BYTES:
            raise BackupDamaged
        yield archive, read_manifest(archive.read(MANIFEST))


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns every way a file can be broken into BackupDamaged."""
    try:
        yield
    except FileNotFoundError:
        raise BackupDamaged(f"There is no file {path}; name the backup to restore.") from None
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError):
        raise BackupDamaged(f"{path} is damaged, incomplete or no backup of a hub; use another copy.") from None


def check_tables(archive: zipfile.ZipFile, manifest: Manifest, advance: Callable[[str], None]) -> None:
    """Read every table once and compare it with the manifest, before anything is changed. Raises BackupDamaged."""
    for table in manifest.tables:
        advance(table.name)
        digest, count = hashlib.sha256(), 0
        with open_table(archive, table) as entry:
            while data := entry.read(CHUNK):
                digest.update(data)
                count += data.count(b"\n")
        if (digest.hexdigest(), count) != (table.digest, table.rows):
            raise BackupDamaged(f"The table {table.name} of the backup is damaged; use another copy of the file.")


def open_table(archive: zipfile.ZipFile, table: Table) -> IO[bytes]:
    """A table's rows."""
    return archive.open(_entry(table.name))


def _entry(name: str) -> str:
    return f"tables/{name}"
