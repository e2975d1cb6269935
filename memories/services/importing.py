"""The job behind an import: read the file, check every line of it, then bring it in, chunk by chunk.

Each chunk commits by itself, together with how far the import is, and is met again as its own work should the worker
die in between: a file is imported once, however often it is tried.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from uuid import UUID

from django.db import transaction

from banks.access import Access, acting_under
from memories.models import ImportChunk, Job, VaultImport
from memories.rules.exchange import (
    BankLine,
    FileRefused,
    Line,
    LinkLine,
    MemoryLine,
    MessageLine,
    Refusal,
    SessionLine,
    parse_line,
    parse_trailer,
)
from memories.rules.imports import Found, Tally
from memories.rules.vocabulary import ImportState
from memories.services.context import WriteContext
from memories.services.datamigrations import record_import
from memories.services.imports import LinesInterleaved, fail_import, lines_of
from memories.services.jobs import JobLost, finish_job, hold_job, report_progress
from memories.services.linesmet import meet_lines
from memories.services.lineties import bring_banks, bring_links, bring_messages, bring_sessions
from memories.services.linewrites import Bringing, write_lines
from memories.services.received import read_received
from memoryhub.lib.clock import now

type Numbered[L] = list[tuple[int, L]]


def import_vault(access: Access, job: Job) -> int:
    """Check the file, then import it unless it is a dry run, and finish the job; how many lines were read.

    A file that is no whole export ends the import, not the attempt; an import that was ended meanwhile, as by an
    erasure, ends its job. Raises JobLost, LinesInterleaved, WriteContended.
    """
    owner = VaultImport.objects.filter(vault_id=access.vault_id, pk=job.ref["import_id"]).first()
    if owner is None or owner.state == ImportState.FAILED:
        finish_job(job)
        return 0
    try:
        return _carry_out(access, owner, job)
    except (JobLost, LinesInterleaved):
        if not VaultImport.objects.filter(pk=owner.pk, state=ImportState.FAILED).exists():
            raise
        finish_job(job)
        return 0


def _carry_out(access: Access, owner: VaultImport, job: Job) -> int:
    asked = acting_under(access, owner.mandate)
    if owner.state == ImportState.CHECKING:
        try:
            read_received(asked, owner, job)
            _check(asked, owner, job)
        except FileRefused as refusal:
            with transaction.atomic():
                hold_job(job)
                fail_import(owner, refusal)
                finish_job(job)
            return 0
    if owner.state == ImportState.IMPORTING:
        _bring(asked, owner, job)
    return int(owner.lines)


def _hold_import(owner: VaultImport) -> None:
    """Lock the import inside the transaction that changes its state. Raises JobLost when it was ended meanwhile."""
    rows = VaultImport.objects.select_for_update().filter(pk=owner.pk)
    if not rows.exclude(state=ImportState.FAILED).exists():
        raise JobLost


def _chunks(owner: VaultImport, start: int = 0) -> Iterator[ImportChunk]:
    """The file's chunks one after the other. Raises JobLost when they were dropped meanwhile."""
    for number in range(start, owner.chunks):
        chunk = ImportChunk.objects.filter(owner=owner, number=number).first()
        if chunk is None:
            raise JobLost
        yield chunk


def _check(asked: Access, owner: VaultImport, job: Job) -> None:
    """Read the whole file once, changing nothing: is it all there, and what would become of every line."""
    tally, digest = Tally(), hashlib.sha256()
    trailer, lines, total = None, 0, owner.lines
    for chunk in _chunks(owner):
        numbered = lines_of(chunk)
        report_progress(job, chunk.first_line - 1, total, "checking")
        for number, line in numbered:
            if trailer is not None and line.strip():
                raise FileRefused(f"Line {number} comes after the end of the export; the file was changed.")
            if trailer is None and (trailer := parse_trailer(line)) is not None:
                owner.lines = number  # empty lines behind it say nothing
            elif trailer is None:
                digest.update(line + b"\n")
                lines += 1
        _judge(WriteContext.of(asked), owner, _parsed(numbered, tally, owner), tally)
    if trailer is None:
        raise FileRefused("The file ends too early: its last line is not there. Export or copy it again.")
    if (trailer.lines, trailer.sha256) != (lines, digest.hexdigest()):
        raise FileRefused("The file is not as it was exported: lines are missing or changed. Export or copy it again.")
    with transaction.atomic():
        hold_job(job)
        _hold_import(owner)
        owner.found, owner.refused, owner.through = tally.counts, tally.refused, 0
        owner.state = (ImportState.CHECKED if owner.options["dry_run"] else ImportState.IMPORTING).value
        owner.save(update_fields=["found", "refused", "through", "state", "lines"])
        if owner.state == ImportState.CHECKED:
            finish_job(job)


def _parsed(numbered: Sequence[tuple[int, bytes]], tally: Tally, owner: VaultImport) -> Numbered[Line]:
    """What the lines of a chunk say; header and trailer aside, and without those that are refused."""
    found: Numbered[Line] = []
    seen = set[tuple[str, UUID]]()
    for number, line in numbered:
        if number == 1 or number >= owner.lines:
            continue
        said = parse_line(number, line)
        if isinstance(said, Refusal):
            tally.refuse("other", said)
        elif said is None:
            tally.add("other", Found.LEFT_OUT)
        elif (said.kind, said.id) in seen:
            tally.refuse(said.kind, Refusal(number, "named_twice", "has the id of an earlier line"))
        else:
            seen.add((said.kind, said.id))
            found.append((number, said))
    return found


def _of[L](lines: Numbered[Line], kind: type[L]) -> Numbered[L]:
    return [(number, line) for number, line in lines if isinstance(line, kind)]


def _judge(context: WriteContext, owner: VaultImport, lines: Numbered[Line], tally: Tally) -> None:
    """What the lines are to the vault. Links and turns are only counted: what they name is not here yet."""
    memories = [line for _, line in _of(lines, MemoryLine)]
    met = meet_lines(context, owner.home, memories)
    for line in memories:
        tally.add("memory", met.found(line))
    for _, other in lines:
        if not isinstance(other, MemoryLine):
            tally.add(other.kind, Found.READ)


def _bring(asked: Access, owner: VaultImport, job: Job) -> None:
    for chunk in _chunks(owner, owner.through):
        report_progress(job, chunk.first_line - 1, owner.lines, "importing")
        _bring_chunk(asked, owner, chunk, job)
    report_progress(job, owner.lines, owner.lines, "importing")
    with transaction.atomic():
        hold_job(job)
        _hold_import(owner)
        owner.state, owner.finished_at = ImportState.DONE.value, now()
        owner.save(update_fields=["state", "finished_at"])
        ImportChunk.objects.filter(owner=owner).delete()
        record_import(owner)
        finish_job(job)


def _bring_chunk(asked: Access, owner: VaultImport, chunk: ImportChunk, job: Job) -> None:
    before = Tally(owner.made, owner.refused if owner.through else [])
    lines = _parsed(lines_of(chunk), before, owner)
    bring_banks(asked, owner.options, _of(lines, BankLine), before)
    bringing = Bringing(WriteContext.of(asked), owner, before)

    def commit() -> None:
        """The rest of the chunk, and how far the import is now: in the transaction of its memories."""
        bring_links(bringing, _of(lines, LinkLine))
        bring_sessions(bringing, _of(lines, SessionLine))
        bring_messages(bringing, _of(lines, MessageLine))
        hold_job(job)
        owner.made, owner.refused = bringing.tally.counts, bringing.tally.refused
        owner.through = chunk.number + 1
        owner.save(update_fields=["made", "refused", "through"])
        ImportChunk.objects.filter(pk=chunk.pk).update(body=None, names=None)

    if memories := _of(lines, MemoryLine):
        write_lines(bringing, chunk, memories, commit)
    else:
        with transaction.atomic():
            commit()
