"""Files of other memory programs on their way in: opened within bounds, read into lines, staged as any import is."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from banks.access import Access
from banks.services.banks import UnknownBank, find_bank
from memories.models import VaultImport
from memories.models.effective import effective_settings
from memories.rules.exchange import FileRefused
from memories.rules.importers import hindsight, markdown, mcpmemory
from memories.rules.importers.kinds import (
    GZIP,
    READERS,
    SQLITE,
    ZIP,
    ImportKind,
    is_page,
    kind_by_name,
    kind_of_document,
    kind_of_members,
)
from memories.rules.importers.lines import Conversion, Placing, digest_of
from memories.rules.importers.records import Left, Record, moment_of
from memories.rules.imports import CHUNK_LINES
from memories.services.imports import fail_import, get_import, stage_lines
from memoryhub.lib.archives import Archive, Bounds, unzipped
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError, Invalid, Malformed
from memoryhub.lib.sqlitefile import opened_sqlite, table_rows
from memoryhub.lib.strictjson import parse

PIECE = 1 << 20
_UNKNOWN = (
    "The first line is not the header of an exported vault, and the file is of no other program this hub reads; "
    "say which one it is from."
)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as it came: its name, and its bytes, or where it (or a folder) lies on the disk of the operator.

    ``kind``: whose it is, else it is found out. ``bank``, ``namespace``: where its memories go.
    """

    name: str
    body: bytes | None = None
    path: Path | None = None
    kind: ImportKind | None = None
    bank: str | None = None
    namespace: tuple[str, ...] | None = None

    @property
    def at(self) -> str:
        """When it was written last, as far as that is known."""
        written = dt.datetime.fromtimestamp(self.path.stat().st_mtime, dt.UTC) if self.path else now()
        return written.replace(microsecond=0).isoformat()


def stage_source(access: Access, import_id: str | UUID, source: SourceFile) -> VaultImport:
    """Take a file in, whichever program wrote it, as the lines of an import; needs import.

    Raises NotFound, UnknownBank, ImportNotReady, and FileRefused in one sentence for a file that cannot be read.
    """
    found = get_import(access, import_id)
    try:
        if source.bank:
            find_bank(access, source.bank)
        with _in_a_sentence():
            opened = _Opened(access, source)
            kind = source.kind or opened.recognised()
            digest = _digest(source, kind)
            if kind == ImportKind.MEMORYHUB:
                found = stage_lines(access, found.pk, opened.pieces())
                mapping: list[dict[str, Any]] = []
            else:
                placing = Placing(source.at, source.bank, source.namespace)
                conversion = Conversion(kind, placing)
                found = stage_lines(access, found.pk, _pieces(conversion.lines(opened.records(kind))))
                mapping = conversion.mapping
    except (FileRefused, UnknownBank) as refusal:
        fail_import(get_import(access, import_id), refusal)
        raise
    found.kind, found.digest, found.mapping = kind.value, digest, mapping
    found.save(update_fields=["kind", "digest", "mapping"])
    return found


def _digest(source: SourceFile, kind: ImportKind) -> str:
    """By which the same file, sent again to go to the same place, is known."""
    digest = hashlib.sha256(source.body or b"")
    for path in [*_files_below(source.path)] if source.path and source.path.is_dir() else [source.path]:
        if path is None:
            continue
        digest.update(str(path).encode("utf-8", "surrogateescape"))
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                digest.update(piece)
    return digest_of(kind, {"bank": source.bank, "namespace": source.namespace}, digest.digest())


def source_digest(access: Access, source: SourceFile) -> str:
    """The digest the file would be staged under. Raises FileRefused."""
    with _in_a_sentence():
        return _digest(source, source.kind or _Opened(access, source).recognised())


class _Opened:
    """One file, as far as it has to be opened to say what it is, and its records."""

    def __init__(self, access: Access, source: SourceFile) -> None:
        settings = effective_settings(access)
        self.source = source
        self.most = settings["import_max_mib"].value * 2**20
        self.most_at_once = settings["import_document_max_mib"].value * 2**20
        size = len(source.body or b"") if source.path is None else source.path.stat().st_size
        if size > self.most:
            raise FileRefused(f"The file has more than {self.most >> 20} MiB; raise import_max_mib in the settings.")
        self.is_folder = source.path is not None and source.path.is_dir()
        self.head = b"" if self.is_folder else self._start()

    def recognised(self) -> ImportKind:
        """Whose file it is. Raises FileRefused when nothing says so."""
        kind = ImportKind.MARKDOWN if self.is_folder else kind_by_name(self.source.name, self.head)
        if kind is None and self.head.startswith(ZIP):
            kind = kind_of_members(self._archive().names)
        elif kind is None and not self.head.startswith(GZIP):
            try:
                kind = kind_of_document(self._document())
            except HubError:
                kind = None
        if kind is None and self.head.startswith(GZIP):
            return ImportKind.MEMORYHUB  # which says that it has to be unpacked first
        if kind is None:
            raise FileRefused(_UNKNOWN)
        return kind

    def pieces(self) -> Iterator[bytes]:
        """The bytes as they are."""
        if self.source.path is None:
            yield self.source.body or b""
            return
        with self.source.path.open("rb") as file:
            while piece := file.read(PIECE):
                yield piece

    def records(self, kind: ImportKind) -> Iterator[Record]:
        """What is in it. Raises FileRefused, also while it is read."""
        with _in_a_sentence():
            if kind == ImportKind.MCP_MEMORY_SERVICE:
                yield from self._rows()
            elif kind == ImportKind.HINDSIGHT:
                yield from self._transfer()
            elif self._has_pages(kind):
                yield from self._pages()
            else:
                yield from READERS[kind](self._document())

    def _start(self) -> bytes:
        if self.source.path is None:
            return (self.source.body or b"")[:4096]
        with self.source.path.open("rb") as file:
            return file.read(4096)

    def _whole(self) -> bytes:
        body = self.source.body
        if body is None and self.source.path is not None:
            if self.source.path.stat().st_size > self.most_at_once:
                raise FileRefused(
                    f"The file has more than {self.most_at_once >> 20} MiB and is read whole; "
                    "raise import_document_max_mib in the settings, or import it in parts."
                )
            body = self.source.path.read_bytes()
        return body or b""

    def _archive(self) -> Archive:
        file = io.BytesIO(self.source.body) if self.source.path is None and self.source.body else None
        bounds = Bounds(member_bytes=self.most_at_once, total_bytes=self.most)
        return Archive(file or (self.source.path or Path()).open("rb"), bounds)

    def _document(self) -> Any:
        """JSON, or lines of JSON; of a zip the file that holds the memories."""
        body = self._whole() if not self.head.startswith(ZIP) else self._memories_in_zip()
        if body.startswith(GZIP):
            body = unzipped(body, self.most_at_once)
        body = body.removeprefix(b"\xef\xbb\xbf")
        try:
            return parse(body)
        except Malformed:
            lines = [line for line in body.splitlines() if line.strip()]
            if len(lines) < 2 or not lines[0].lstrip().startswith(b"{"):
                raise
            return [_one_line(line) for line in lines]

    def _memories_in_zip(self) -> bytes:
        archive = self._archive()
        for wanted in ("memories.json", "memories.jsonl.gz"):
            for name in archive.names:
                if name.rsplit("/", 1)[-1] == wanted:
                    return archive.read(name)
        raise FileRefused("The archive holds neither memories.json nor memories.jsonl.gz; export it again.")

    def _transfer(self) -> Iterator[Record]:
        archive = self._archive()
        if "manifest.json" not in archive.names:
            raise FileRefused("The archive has no manifest.json; it is no transfer of a hindsight bank.")
        hindsight.check_manifest(parse(archive.read("manifest.json")))
        keys: dict[tuple[str, int], str] = {}
        has_observations = "observations.json" in archive.names
        for name in sorted(archive.names):
            if name.startswith("documents/"):
                document = parse(archive.read(name))
                yield from hindsight.read_document(document)
                keys |= hindsight.keys_of(document) if has_observations else {}
            elif name not in {"manifest.json", "observations.json"}:
                yield Left("not_a_memory", hindsight.LEFT_OUT.get(name, "is a file of the archive no memory is in"))
        if has_observations:
            yield from hindsight.read_observations(parse(archive.read("observations.json")), keys)

    def _rows(self) -> Iterator[Record]:
        if not self.head.startswith(SQLITE):
            raise FileRefused("The file is no SQLite file; it is the one mcp-memory-service keeps (sqlite_vec.db).")
        source = self.source.path or self.source.body or b""
        with opened_sqlite(source) as connection:
            found = False
            for row in table_rows(connection, "memories", mcpmemory.COLUMNS):
                if not found and not row.keys() >= set(mcpmemory.REQUIRED):
                    break
                found = True
                yield mcpmemory.read_row(row)
                yield from filter(None, [mcpmemory.read_chain(row)])
            if not found:
                raise FileRefused("The SQLite file has no memories of mcp-memory-service in it.")
            for row in table_rows(connection, "memory_graph", mcpmemory.EDGES):
                yield from filter(None, [mcpmemory.read_edge(row)])

    def _has_pages(self, kind: ImportKind) -> bool:
        if kind == ImportKind.MARKDOWN or self.is_folder:
            return True
        return kind == ImportKind.LETTA and (self.head.startswith(ZIP) or is_page(self.source.name))

    def _pages(self) -> Iterator[Record]:
        if self.is_folder:
            yield from self._folder()
        elif self.head.startswith(ZIP):
            archive = self._archive()
            for name in sorted(archive.names):
                if any(part.startswith(".") for part in name.split("/")):
                    continue
                at = moment_of(archive.written_at(name))
                yield from _page(name, archive.read(name), at) if is_page(name) else [_no_page()]
        else:
            yield from _page(self.source.name, self._whole(), self.source.at)

    def _folder(self) -> Iterator[Record]:
        top = self.source.path or Path()
        read = 0
        for path in _files_below(top):
            if path.is_symlink() or not is_page(path.name):
                yield _no_page()
                continue
            read += path.stat().st_size
            if read > self.most or path.stat().st_size > self.most_at_once:
                raise FileRefused(f"The folder has more than {self.most >> 20} MiB, or one file that is too large.")
            at = dt.datetime.fromtimestamp(path.stat().st_mtime, dt.UTC).replace(microsecond=0).isoformat()
            yield from _page(path.relative_to(top).as_posix(), path.read_bytes(), at)


def _files_below(top: Path) -> Iterator[Path]:
    """Every file of a folder, in the order of their names; hidden ones aside, and no link is followed."""
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(folder, name)


def _page(name: str, body: bytes, at: str | None) -> Iterator[Record]:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        yield Left("no_text", "is a page that is not UTF-8", wanted=True)
        return
    yield from markdown.read_page(name.encode("utf-8", "replace").decode(), text, at)


def _no_page() -> Left:
    return Left("no_page", "is a file, or a link, that is no Markdown")


def _one_line(line: bytes) -> Any:
    try:
        return parse(line)
    except HubError:
        return None  # which the reader counts as a record that is no object


def _pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines joined, so that staging them is not done one by one."""
    held: list[bytes] = []
    for line in lines:
        held.append(line)
        if len(held) >= CHUNK_LINES:
            yield b"".join(held)
            held = []
    yield b"".join(held)


@contextmanager
def _in_a_sentence() -> Iterator[None]:
    """What is wrong with the file, as one FileRefused."""
    try:
        yield
    except FileRefused:
        raise
    except OSError as error:
        raise FileRefused(f"The file cannot be read: {error.strerror or type(error).__name__}.") from None
    except (Invalid, Malformed) as error:
        said: Mapping[str, str] = {item.code: item.detail for item in error.errors}
        why = "; ".join(said.values())
        raise FileRefused(f"The file cannot be read: it {why}." if why else error.message) from None
