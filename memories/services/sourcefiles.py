"""Files of other memory programs, opened within bounds and read into records.

Nothing is unpacked onto a disk, no link is followed, and what is no ordinary file is not opened.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from banks.access import Access
from memories.models.effective import effective_settings
from memories.rules import limits
from memories.rules.exchange import FileRefused, in_a_sentence
from memories.rules.importers import hindsight, markdown, mcpmemory
from memories.rules.importers.kinds import (
    GZIP,
    READERS,
    SQLITE,
    UNKNOWN,
    ZIP,
    ImportKind,
    is_page,
    kind_by_name,
    kind_of_document,
    kind_of_members,
)
from memories.rules.importers.lines import digest_of
from memories.rules.importers.records import Left, Record, moment_of
from memoryhub.lib.archives import Archive, Bounds, unzipped
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError, Malformed
from memoryhub.lib.plainfiles import files_below, is_ordinary, ordinary_size, read_within
from memoryhub.lib.sqlitefile import opened_sqlite, table_rows
from memoryhub.lib.strictjson import parse

PIECE = 1 << 20


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


class OpenedFile:
    """One file, as far as it has to be opened to say what it is, and its records."""

    def __init__(self, access: Access, source: SourceFile) -> None:
        settings = effective_settings(access)
        self.source = source
        self.most = settings["import_max_mib"].value * 2**20
        self.most_at_once = settings["import_document_max_mib"].value * 2**20
        self.is_folder = source.path is not None and source.path.is_dir()
        size = len(source.body or b"") if source.path is None or self.is_folder else ordinary_size(source.path)
        if size > self.most:
            raise FileRefused(f"The file has more than {self.most >> 20} MiB; raise import_max_mib in the settings.")
        self._file: IO[bytes] | None = None
        #: Bytes and pages of a folder that were read so far.
        self._read = self._opened = 0
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
            raise FileRefused(UNKNOWN)
        return kind

    def digest(self, kind: ImportKind) -> str:
        """By which the same file, sent again to go to the same place, is known. Raises FileRefused."""
        digest = hashlib.sha256(self.source.body or b"")
        if self.source.path is not None:
            digest.update(str(self.source.path).encode("utf-8", "surrogateescape"))
        for piece in self._paged() if self.is_folder else () if self.source.path is None else self.pieces():
            digest.update(piece)
        self._read = self._opened = 0
        placed = {"bank": self.source.bank, "namespace": self.source.namespace}
        return digest_of(kind, placed, digest.digest())

    def _paged(self) -> Iterator[bytes]:
        for path in files_below(self.source.path or Path()):
            yield str(path).encode("utf-8", "surrogateescape")
            yield self._page_in(path) or b""

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
        with in_a_sentence():
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
            body = read_within(self.source.path, self.most_at_once)
            if body is None:
                raise FileRefused(
                    f"The file has more than {self.most_at_once >> 20} MiB and is read whole; "
                    "raise import_document_max_mib in the settings, or import it in parts."
                )
        return body or b""

    def close(self) -> None:
        """Let go of an archive on the disk."""
        if self._file is not None:
            self._file.close()

    def _archive(self) -> Archive:
        if self._file is None:
            path = self.source.path
            self._file = io.BytesIO(self.source.body or b"") if path is None else path.open("rb")
        return Archive(self._file, Bounds(member_bytes=self.most_at_once, total_bytes=self.most))

    def _document(self) -> Any:
        """JSON, or lines of JSON; of a zip the file that holds the memories."""
        body = self._whole() if not self.head.startswith(ZIP) else self._memories_in_zip()
        if body.startswith(GZIP):
            body = unzipped(body, self.most_at_once)
        body = body.removeprefix(b"\xef\xbb\xbf")
        if sum(map(body.count, (b",", b"[", b"{"))) > limits.DOCUMENT_VALUES_MAX:
            raise FileRefused(f"The file has more than {limits.DOCUMENT_VALUES_MAX:,} values; import it in parts.")
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
        for path in files_below(top):
            body = self._page_in(path)
            if body is None:
                yield _no_page()
                continue
            at = dt.datetime.fromtimestamp(path.stat().st_mtime, dt.UTC).replace(microsecond=0).isoformat()
            yield from _page(path.relative_to(top).as_posix(), body, at)

    def _page_in(self, path: Path) -> bytes | None:
        """What a page of the folder says; None for what is none. Raises FileRefused when it is all too much."""
        if not is_page(path.name) or not is_ordinary(path):
            return None
        self._opened += 1
        body = read_within(path, min(self.most_at_once, self.most - self._read))
        if body is None or self._opened > limits.FOLDER_FILES_MAX:
            raise FileRefused(
                f"The folder has more than {self.most >> 20} MiB or {limits.FOLDER_FILES_MAX:,} pages, "
                "or a page that is too large; import it in parts."
            )
        self._read += len(body)
        return body


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
