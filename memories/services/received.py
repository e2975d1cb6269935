"""Another program's file that came over the net: kept sealed as it came, and read by the import's job.

What a file unpacks to, and how long that takes, is known only when it is read; nobody waits for that at a door.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from banks.access import Access
from memories.models import ImportChunk, Job, VaultImport
from memories.rules.exchange import FileRefused
from memories.rules.importers.kinds import NOT_LOOKED_INTO, contradiction, kind_by_name
from memories.rules.imports import CHUNK_BYTES, RAW_FROM, FileWish
from memories.services.imports import (
    LinesInterleaved,
    fail_import,
    held_at_once,
    known_bank,
    receiving_import,
    stage_lines,
)
from memories.services.jobs import hold_job, report_progress
from memories.services.sources import SourceFile, read_source
from memoryhub.lib.bulk import insert_rows

_ANY_BYTES = "latin-1"
_HEAD = 4_096


def stage_file(access: Access, import_id: str | UUID, wish: FileWish, piece: bytes) -> VaultImport:
    """Take in a file, or its first piece; all that is looked at is how it begins. Needs import.

    Raises NotFound, UnknownBank, ImportNotReady, LinesInterleaved, and FileRefused for what it cannot be or what is
    too large.
    """
    found = receiving_import(access, import_id)
    known_bank(access, found, wish.bank)
    try:
        head = piece[:_HEAD]
        found.kind = str(wish.kind or kind_by_name(wish.name, head) or NOT_LOOKED_INTO)
        if why := contradiction(wish.kind, wish.name, head):
            raise FileRefused(why)
        said = json.dumps(wish.model_dump(mode="json")).encode()
        _keep(access, found, piece, said)
    except FileRefused as refusal:
        fail_import(found, refusal)
        raise
    return found


def stage_more(access: Access, import_id: str | UUID, piece: bytes) -> VaultImport:
    """Take in the next piece of a file that was begun: whole lines of an export, any bytes of another program's.

    Needs import. Raises as `stage_file` and `stage_lines` do.
    """
    found = receiving_import(access, import_id)
    if not _received(found).exists():
        return stage_lines(access, import_id, [piece])
    try:
        _keep(access, found, piece)
    except FileRefused as refusal:
        fail_import(found, refusal)
        raise
    return found


def read_received(access: Access, found: VaultImport, job: Job) -> None:
    """Turn what came into lines, unless that is done; what a broken-off attempt had read is read anew.

    Raises FileRefused, JobLost.
    """
    wish = _received(found).first()
    if wish is None:
        return
    said = FileWish.parse(json.loads(wish.body))
    rows = _received(found).exclude(pk=wish.pk)
    body = b"".join(str(row.body).encode(_ANY_BYTES) for row in rows.iterator(chunk_size=8))
    found.lines = found.chunks = found.bytes = 0
    found.home = None
    with transaction.atomic():
        hold_job(job)
        ImportChunk.objects.filter(owner=found, number__lt=RAW_FROM).delete()
        found.save(update_fields=["lines", "chunks", "bytes", "home"])
    namespace = None if said.namespace is None else tuple(said.namespace)

    def heard(lines: Iterable[bytes]) -> Iterator[bytes]:
        for piece in lines:
            report_progress(job, found.lines, 0, "reading the file")
            yield piece

    read_source(access, found, SourceFile(said.name, body, kind=said.kind, bank=said.bank, namespace=namespace), heard)
    with transaction.atomic():
        hold_job(job)
        _received(found).delete()
        found.bytes = len(body)
        found.save(update_fields=["bytes"])


def _received(found: VaultImport) -> QuerySet[ImportChunk]:
    """What was said of the file, and its pieces."""
    return ImportChunk.objects.filter(owner=found, number__gte=RAW_FROM).order_by("number")


def _keep(access: Access, found: VaultImport, piece: bytes, said: bytes | None = None) -> None:
    """Seal the piece behind the others. Raises FileRefused, LinesInterleaved when another one came meanwhile."""
    most, before = held_at_once(access), found.bytes
    found.bytes += len(piece)
    if found.bytes > most:
        raise FileRefused(
            f"The file has more than {most >> 20} MiB; import it at a terminal with `manage.py import`, "
            "or raise import_document_max_mib in the settings."
        )
    parts = [] if said is None else [said]
    parts += [piece[at : at + CHUNK_BYTES] for at in range(0, len(piece), CHUNK_BYTES)]
    with transaction.atomic():
        held = VaultImport.objects.select_for_update().get(pk=found.pk)
        there = _received(found).count()
        if (held.bytes, held.state, held.lines) != (before, found.state, 0) or bool(there) == (said is not None):
            raise LinesInterleaved
        for place, part in enumerate(parts, start=RAW_FROM + there):
            chunk = ImportChunk(vault_id=found.vault_id, owner=found, number=place, first_line=0)
            chunk.body = part.decode(_ANY_BYTES)
            insert_rows([chunk])
        found.save(update_fields=["bytes", "kind"])
