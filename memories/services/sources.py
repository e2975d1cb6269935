"""Files of other memory programs become the lines of an import, at once or, sent over the net, by its job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any
from uuid import UUID

from banks.access import Access
from memories.models import VaultImport
from memories.rules.exchange import FileRefused, in_a_sentence
from memories.rules.importers.kinds import ImportKind
from memories.rules.importers.lines import Conversion, Placing
from memories.rules.imports import CHUNK_LINES
from memories.services.imports import fail_import, get_import, known_bank, take_lines
from memories.services.sourcefiles import OpenedFile, SourceFile

__all__ = ["SourceFile", "read_source", "source_digest", "stage_source"]
type Heard = Callable[[Iterable[bytes]], Iterable[bytes]]


def stage_source(access: Access, import_id: str | UUID, source: SourceFile) -> VaultImport:
    """Take a file in, whichever program wrote it, as the lines of an import; needs import.

    Raises NotFound, UnknownBank, ImportNotReady, and FileRefused in one sentence for a file that cannot be read.
    """
    found = get_import(access, import_id)
    known_bank(access, found, source.bank)
    try:
        read_source(access, found, source)
    except FileRefused as refusal:
        fail_import(found, refusal)
        raise
    return found


def read_source(access: Access, found: VaultImport, source: SourceFile, heard: Heard = iter) -> None:
    """The file as lines behind those of the import, and whose it is; ``heard`` is given them as they come.

    Needs import. Raises FileRefused.
    """
    with in_a_sentence(), closing(OpenedFile(access, source)) as opened:
        kind = source.kind or opened.recognised()
        found.kind = kind.value  # told also of a file that is refused further on
        digest = opened.digest(kind)
        if kind == ImportKind.MEMORYHUB:
            take_lines(access, found, heard(opened.pieces()))
            mapping: list[dict[str, Any]] = []
        else:
            conversion = Conversion(kind, Placing(source.at, source.bank, source.namespace))
            take_lines(access, found, heard(_pieces(conversion.lines(opened.records(kind)))))
            mapping = conversion.mapping
    found.digest, found.mapping = digest, mapping
    found.save(update_fields=["kind", "digest", "mapping"])


def source_digest(access: Access, source: SourceFile) -> str:
    """The digest the file would be staged under. Needs import. Raises FileRefused."""
    with in_a_sentence(), closing(OpenedFile(access, source)) as opened:
        return opened.digest(source.kind or opened.recognised())


def _pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines joined, so that staging them is not done one by one."""
    held: list[bytes] = []
    for line in lines:
        held.append(line)
        if len(held) >= CHUNK_LINES:
            yield b"".join(held)
            held = []
    yield b"".join(held)
