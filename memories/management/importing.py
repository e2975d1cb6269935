"""What commands that import share: a file taken in with a bar, worked off here, and told about in plain words."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console

from memories.management.following import follow_job, told_meanwhile
from memories.management.operator import open_vault
from memories.management.progress import shown_steps
from memories.models import VaultImport
from memories.rules.exchange import FileRefused
from memories.rules.importers.kinds import ImportKind
from memories.rules.imports import ImportOptions, Tally
from memories.rules.vocabulary import JobState
from memories.services.imports import begin_import, check_import, get_import, unfinished_import
from memories.services.running import run_job
from memories.services.sources import SourceFile, source_digest, stage_source
from memoryhub.lib.sealing import gate

if TYPE_CHECKING:
    from uuid import UUID

    from django.core.management.base import BaseCommand, OutputWrapper

REFUSALS_SHOWN = 20


def bring(command: BaseCommand, vault: str, source: SourceFile, options: ImportOptions) -> None:
    """Import the file, or go on with an import of it that stopped, and tell how it went. Raises FileRefused."""
    name = command.__module__.rsplit(".", 1)[-1]
    if source.path is None or not source.path.exists():
        raise FileRefused(f"{source.path} cannot be read: there is no such file.")
    with gate.session():
        access = open_vault(vault, name)
        with shown_steps("Reading") as advance:
            advance(source.name, 0, 1)
            found = unfinished_import(access, source_digest(access, source), options)
            if found is None:
                found = stage_source(access, begin_import(access, options).pk, source)
                found = check_import(access, found.pk)
    _work_off(found.job.pk, source.name)
    with gate.session():
        _tell(get_import(open_vault(vault, name), found.pk), command.stdout, command.stderr)


def _work_off(job_id: UUID, title: str) -> None:
    """With a bar where somebody watches; else here and now, with a line at times. A worker may be quicker."""
    if Console(stderr=True).is_terminal:
        follow_job(job_id, title)
        return
    with told_meanwhile(job_id, title):
        if not run_job(job_id):
            follow_job(job_id, title)


def _tell(found: VaultImport, out: OutputWrapper, err: OutputWrapper) -> None:
    """What was found or made, what of theirs became what, and what was not taken; exits with 1 when something was not.

    Raises FileRefused when the import did not come to its end.
    """
    if found.error or found.job.state not in {JobState.DONE}:
        raise FileRefused(found.error or f"The import stopped ({found.job.error or found.job.state}); run it again.")
    counts = found.found if found.options["dry_run"] else found.made
    for kind, by_fate in sorted(counts.items()):
        told = ", ".join(f"{count} {fate.replace('_', ' ')}" for fate, count in by_fate.items())
        out.write(f"{kind}: {told}\n")
    for row in found.mapping:
        lost = f"; not all of it fits in {row['lost']}, such as {_listed(row['examples'])}" if row["lost"] else ""
        out.write(f"  {row['there']} → {row['here']}: {row['count']}{lost}\n")
    refused = list(found.refused or [])
    for refusal in refused[:REFUSALS_SHOWN]:
        err.write(f"  {_position(found, refusal['line'])}: {refusal['detail']}\n")
    if len(refused) > REFUSALS_SHOWN:
        err.write(f"  and {len(refused) - REFUSALS_SHOWN} more\n")
    if found.options["dry_run"]:
        out.write("Nothing was changed. Without --dry-run it is imported.\n")
    elif found.changeset is None or not found.changeset.count:
        out.write("No memory came in or changed; there is nothing to undo.\n")
    else:
        out.write(f"Imported as changeset {found.changeset.pk}, which can be undone as one.\n")
    if Tally(counts).total("refused"):
        sys.exit(1)


def _position(found: VaultImport, line: int) -> str:
    """Where in the file a line of the import comes from."""
    return f"line {line}" if found.kind == ImportKind.MEMORYHUB else f"record {line - 1}"


def _listed(numbers: list[int]) -> str:
    return "records " + ", ".join(map(str, numbers))
