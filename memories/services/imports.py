"""Imports of a vault's lines: taken in sealed, checked first, carried out by a job, forgotten when they are done."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from banks.access import Access, KeyScope, WholeVaultNeeded, mandate_of, system_access
from banks.services.audit import Audited, record_audit
from banks.services.banks import UnknownBank, find_bank
from memories.jobs import JobKind
from memories.models import Changeset, ImportChunk, Job, Memory, VaultImport
from memories.models.effective import effective_settings
from memories.rules.exchange import LINE_BYTES_MAX, FileRefused, Header, id_in, parse_header
from memories.rules.importers.kinds import NOT_LOOKED_INTO, ImportKind
from memories.rules.imports import CHUNK_BYTES, CHUNK_LINES, RAW_FROM, Found, ImportOptions
from memories.rules.vocabulary import ImportState
from memories.services.changesets import open_changeset
from memories.services.context import WriteContext
from memories.services.datamigrations import record_import
from memories.services.jobs import enqueue_job
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, HubError, NotFound
from memoryhub.lib.ids import parse_id
from memoryhub.lib.sealing import gate

#: A text for any bytes: a line that is no UTF-8 is refused by its number, when the file is checked.
_ANY_BYTES = "latin-1"
#: So many waiting imports are looked at in one sweep.
DROPPED_AT_ONCE = 100
#: Of these imports, those with a line about one of these memories; without names it came before they were kept.
_NAMING = """
    SELECT DISTINCT owner_id FROM memories_importchunk c
    WHERE owner_id = ANY(%s) AND body IS NOT NULL AND number < %s
      AND (names IS NULL OR EXISTS (SELECT 1 FROM unnest(c.names) AS name WHERE name = ANY(%s)))
"""
UNFINISHED = [ImportState.RECEIVING, ImportState.CHECKING, ImportState.CHECKED, ImportState.IMPORTING]


class ImportNotReady(Conflict):
    """This import is not at that step; look at its state."""

    code = "import_not_ready"


class LinesInterleaved(Conflict):
    """Two requests send lines of this import at once; send them one after the other, beginning a new import."""

    code = "lines_interleaved"


def begin_import(access: Access, options: ImportOptions) -> VaultImport:
    """An empty import that takes lines. Needs import; keep_provenance needs memories:approve too.

    Raises MissingScope, Denied for a key that is limited to some banks.
    """
    _require_import(access)
    chosen = _chosen(access, options)
    return VaultImport.objects.create(vault_id=access.vault_id, options=chosen, mandate=mandate_of(access))


def stage_lines(access: Access, import_id: str | UUID, pieces: Iterable[bytes]) -> VaultImport:
    """Take in the next whole lines of the file, sealed as they come; nothing of them is written anywhere in clear.

    Raises NotFound, ImportNotReady, FileRefused for a file, or a line, that is too large or no export.
    """
    found = receiving_import(access, import_id)
    try:
        take_lines(access, found, pieces)
    except FileRefused as refusal:
        fail_import(found, refusal)
        raise
    return found


def receiving_import(access: Access, import_id: str | UUID) -> VaultImport:
    """An import that takes more of its file. Needs import. Raises NotFound, ImportNotReady."""
    _require_import(access)
    return _unfinished(access, import_id, ImportState.RECEIVING)


def known_bank(access: Access, found: VaultImport, name: str | None) -> None:
    """That there is the bank an import is to go to; one begun for another was never an import. Raises UnknownBank."""
    if not name:
        return
    try:
        find_bank(access, name)
    except UnknownBank:
        found.delete()
        raise


def take_lines(access: Access, found: VaultImport, pieces: Iterable[bytes]) -> None:
    """Put the lines behind those of an import. Needs import. Raises FileRefused, LinesInterleaved."""
    _require_import(access)
    settings = effective_settings(access)
    most_bytes, most_lines = settings["import_max_mib"].value * 2**20, settings["import_max_lines"].value
    for lines in _chunked(pieces):
        found.bytes += sum(map(len, lines))
        if found.bytes > most_bytes or found.lines + len(lines) > most_lines:
            raise FileRefused(
                f"The file has more than {most_bytes >> 20} MiB or {most_lines} lines; "
                "raise import_max_mib or import_max_lines in the settings, or import it in parts."
            )
        if found.home is None:
            found.home = _home_of(parse_header(lines[0]))
        _stage(found, lines, _names_of(access, lines))


def check_import(access: Access, import_id: str | UUID) -> VaultImport:
    """All lines are in: check them in a job, and go on to import them unless it is a dry run. Needs import."""
    _require_import(access)
    with transaction.atomic():
        found = _unfinished(access, import_id, ImportState.RECEIVING, lock=True)
        if not found.bytes:
            raise FileRefused("The file is empty; send the lines of an exported vault.")
        if not found.options["dry_run"]:
            _begin_changing(access, found)
        return _enqueue(found, ImportState.CHECKING)


def apply_import(access: Access, import_id: str | UUID, options: ImportOptions | None = None) -> VaultImport:
    """Carry out an import that was only checked, as it was begun or with other ``options``. Needs import.

    Raises ImportNotReady, and MissingScope as begin_import does.
    """
    _require_import(access)
    with transaction.atomic():
        found = _unfinished(access, import_id, ImportState.CHECKED, lock=True)
        found.options = _chosen(access, options or ImportOptions.parse(_asked(found)))
        found.options, found.mandate = {**found.options, "dry_run": False}, mandate_of(access)
        _begin_changing(access, found)
        return _enqueue(found, ImportState.IMPORTING)


def get_import(access: Access, import_id: str | UUID) -> VaultImport:
    """One import. Needs import. Raises NotFound."""
    _require_import(access)
    found = _visible(access).select_related("job").filter(pk=parse_id(import_id)).first()
    if found is None:
        raise NotFound("There is no such import in this vault.")
    return found


def list_imports(access: Access, limit: int = 20) -> list[VaultImport]:
    """The vault's newest imports. Needs import."""
    _require_import(access)
    return list(_visible(access).select_related("job").order_by("-id")[:limit])


def held_at_once(access: Access) -> int:
    """How many bytes a file may have that is read whole. Needs import."""
    _require_import(access)
    return int(effective_settings(access)["import_document_max_mib"].value) * 2**20


def unfinished_import(access: Access, digest: str, options: ImportOptions) -> VaultImport | None:
    """An import of the same file, with the same wishes, that stopped while it was checked or carried out.

    Needs import.
    """
    _require_import(access)
    rows = _visible(access).filter(digest=digest, state__in=[ImportState.CHECKING, ImportState.IMPORTING])
    wanted = options.model_dump()
    return next((one for one in rows.select_related("job").order_by("-id") if _asked(one) == wanted), None)


def count_staying(access: Access, changeset: Changeset) -> dict[str, int]:
    """What an import brought that undoing it leaves: banks, links, conversations and their messages, by kind.

    Memories are archived; the rest can only be erased or deleted, which an undo never does. Needs memories:read.
    """
    access.require(KeyScope.MEMORIES_READ)
    rows = VaultImport.objects.filter(vault_id=access.vault_id, changeset=changeset)
    counts = Counter[str]()
    for made in rows.values_list("made", flat=True):
        counts.update({kind: by_fate.get(Found.NEW.value, 0) for kind, by_fate in made.items() if kind != "memory"})
    return {kind: count for kind, count in counts.items() if count}


def drop_abandoned_imports() -> int:
    """End imports nobody finished sending or said yes to (``import_staged_days``); how many. The hub's own sweep."""
    at, dropped = now(), 0
    waiting = [ImportState.RECEIVING, ImportState.CHECKED]
    old = VaultImport.objects.filter(state__in=waiting, created_at__lt=at - dt.timedelta(days=1))
    for found in old.order_by("created_at")[:DROPPED_AT_ONCE]:
        with gate.session():
            kept = effective_settings(system_access(found.vault_id))["import_staged_days"].value
        if found.created_at < at - dt.timedelta(days=kept):
            fail_import(found, Conflict(f"It waited {kept} days without a yes; import the file again."))
            dropped += 1
    return dropped


def forget_imports(access: Access, memory_ids: Collection[UUID]) -> int:
    """Drop the staged lines of every unfinished import that says one of these memories; how many imports.

    What was imported already stays, and the import says why it ended. A file nobody has read yet is left alone.
    """
    hashes = Memory.objects.in_vault(access.vault_id).filter(pk__in=memory_ids, content_hash__isnull=False)
    wanted = {*memory_ids, *(id_in(access.vault_id, one) for one in memory_ids)}
    wanted |= {_name_of(said) for said in hashes.values_list("content_hash", flat=True) if said is not None}
    unfinished = list(_unfinished_ids(access.vault_id))
    if not unfinished:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_NAMING, [unfinished, RAW_FROM, list(wanted)])
        naming = [owner for (owner,) in cursor.fetchall()]
    rows = VaultImport.objects.select_for_update().filter(pk__in=naming, state__in=UNFINISHED)
    ended = list(rows.order_by("pk"))
    for found in ended:
        fail_import(found, Conflict("A memory of this file was erased meanwhile; import the file again."))
    return len(ended)


def fail_import(found: VaultImport, error: HubError) -> None:
    """End an import and drop what was staged of it; what began as no export of a hub is not called one."""
    if found.kind == ImportKind.MEMORYHUB and found.home is None:
        found.kind = NOT_LOOKED_INTO
    found.state, found.error, found.finished_at = ImportState.FAILED.value, error.message[:300], now()
    found.save(update_fields=["state", "error", "finished_at", "bytes", "lines", "chunks", "home", "kind"])
    ImportChunk.objects.filter(owner=found).delete()
    record_import(found)


def lines_of(chunk: ImportChunk) -> list[tuple[int, bytes]]:
    """Number and bytes of each line of a chunk, without its line break."""
    lines = (chunk.body or "").encode(_ANY_BYTES).split(b"\n")[:-1]
    return list(enumerate(lines, start=chunk.first_line))


def _unfinished_ids(vault_id: UUID) -> QuerySet[VaultImport, UUID]:
    return VaultImport.objects.filter(vault_id=vault_id, state__in=UNFINISHED).values_list("pk", flat=True)


def _names_of(access: Access, lines: Iterable[bytes]) -> list[UUID]:
    """By what an erasure finds the memories of these lines."""
    context, names = WriteContext.of(access), set[UUID]()
    for line in lines:
        try:
            said = json.loads(line)
            if said["kind"] != "memory":
                continue
            names.add(id_in(access.vault_id, UUID(said["id"])))
            names.add(UUID(said["id"]))
            names.add(_name_of(context.content_hash(said["content"])))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue  # no line about a memory; the check refuses it by its number
    return sorted(names)


def _name_of(content_hash: bytes | memoryview) -> UUID:
    return UUID(bytes=bytes(content_hash[:16]))


def _require_import(access: Access) -> None:
    access.require(KeyScope.IMPORT)
    if access.bank_ids is not None:
        raise WholeVaultNeeded("A key that is limited to some banks imports no vault; use one that reaches all banks.")


def _visible(access: Access) -> QuerySet[VaultImport]:
    """Every import of the vault; an isolated agent sees its own."""
    rows = VaultImport.objects.filter(vault_id=access.vault_id)
    if access.agent is None or not access.agent.is_isolated:
        return rows
    return rows.filter(mandate__agent_id=access.agent_id)


def _chosen(access: Access, options: ImportOptions) -> dict[str, Any]:
    if options.keep_provenance:
        access.require(KeyScope.MEMORIES_APPROVE)
    may = sorted(str(scope) for scope in (KeyScope.BANKS_ADMIN, KeyScope.SESSIONS) if access.has(scope))
    return {**options.model_dump(), "may": may}


def _home_of(header: Header) -> UUID:
    try:
        return UUID(str(header.vault["id"]))
    except (KeyError, ValueError):
        raise FileRefused("The header does not name the vault the file was exported from.") from None


def _chunked(pieces: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Whole lines, with their line breaks, in portions that fit into a row. A last line may lack its line break."""
    lines: list[bytes] = []
    size, tail = 0, b""
    for piece in pieces:
        *whole, tail = (tail + piece).split(b"\n")
        if len(tail) > LINE_BYTES_MAX:
            raise FileRefused(f"A line has more than {LINE_BYTES_MAX} bytes; no export has one.")
        for line in whole:
            if len(line) > LINE_BYTES_MAX:
                raise FileRefused(f"A line has more than {LINE_BYTES_MAX} bytes; no export has one.")
            lines.append(line + b"\n")
            size += len(line) + 1
            if len(lines) >= CHUNK_LINES or size >= CHUNK_BYTES:
                yield lines
                lines, size = [], 0
    if tail:
        lines.append(tail + b"\n")
    if lines:
        yield lines


def _stage(found: VaultImport, lines: list[bytes], names: list[UUID]) -> None:
    """Put lines behind those that are there. Raises LinesInterleaved when another request did so meanwhile."""
    chunk = ImportChunk(vault_id=found.vault_id, owner=found, number=found.chunks, first_line=found.lines + 1)
    chunk.body, chunk.names = b"".join(lines).decode(_ANY_BYTES), names
    found.lines, found.chunks = found.lines + len(lines), found.chunks + 1
    with transaction.atomic():
        held = VaultImport.objects.select_for_update().get(pk=found.pk)
        if (held.chunks, held.state) != (chunk.number, found.state):
            raise LinesInterleaved
        insert_rows([chunk])
        found.save(update_fields=["bytes", "lines", "chunks", "home"])


def _unfinished(access: Access, import_id: str | UUID, state: ImportState, *, lock: bool = False) -> VaultImport:
    rows = _visible(access).select_for_update() if lock else _visible(access)
    found = rows.filter(pk=parse_id(import_id)).first()
    if found is None:
        raise NotFound("There is no such import in this vault.")
    if found.state != state:
        raise ImportNotReady(f"This import is {found.state}; for this it has to be {state.value}.")
    return found


def _asked(found: VaultImport) -> dict[str, Any]:
    """The options as the caller gave them, without what the hub noted of that caller."""
    return {name: value for name, value in found.options.items() if name != "may"}


def _begin_changing(access: Access, found: VaultImport) -> None:
    found.changeset = open_changeset(access, "import_vault")
    record_audit(access, Audited("import_vault", "import", found.pk, changeset_id=found.changeset.pk))


def _enqueue(found: VaultImport, state: ImportState) -> VaultImport:
    found.state, found.through = state.value, 0
    ref = {"import_id": str(found.pk)}
    if found.changeset_id is not None:
        ref["changeset_id"] = str(found.changeset_id)
    enqueue_job(found.vault_id, JobKind.IMPORT_VAULT, ref, dedupe_key=str(found.pk))
    found.job = (
        Job.objects.filter(vault_id=found.vault_id, kind=JobKind.IMPORT_VAULT, dedupe_key=str(found.pk))
        .order_by("-id")
        .first()
    )
    found.save(update_fields=["state", "through", "options", "mandate", "changeset", "job"])
    return found
