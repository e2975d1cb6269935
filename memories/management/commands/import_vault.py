"""``manage.py import_vault FILE --vault V``: the lines of an export into a vault, checked first."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from memories.management.operator import open_vault
from memories.management.progress import shown_steps
from memories.models import VaultImport
from memories.rules.exchange import FileRefused
from memories.rules.imports import ImportOptions, Tally
from memories.services.imports import begin_import, check_import, get_import, stage_lines
from memories.services.running import run_job
from memoryhub.lib.sealing import gate

if TYPE_CHECKING:
    from argparse import ArgumentParser

PIECE = 1 << 20
REFUSALS_SHOWN = 20


class Command(BaseCommand):
    """Does the job's work itself, so that it needs no worker; interrupted, a worker or a second run goes on."""

    help = "Import the lines `export_vault` wrote; importing them again changes nothing."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to read, where to, how."""
        parser.add_argument("file", type=Path, help="a file of JSON lines, not compressed")
        parser.add_argument("--vault", required=True, help="name or id of the vault")
        parser.add_argument("--dry-run", action="store_true", help="only say what would become of every line")
        parser.add_argument("--dedup", action="store_true", help="compare by meaning too, as any write does")
        parser.add_argument("--update", action="store_true", help="overwrite what is here and says something else")
        parser.add_argument("--keep-provenance", action="store_true", help="keep source and trust as the file has them")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit code 1 when the file, or a line of it, was refused."""
        chosen = ("dry_run", "dedup", "update", "keep_provenance")
        wanted = ImportOptions(**{name: options[name] for name in chosen})
        with gate.session():
            access = open_vault(options["vault"], "import_vault")
            with shown_steps("Reading") as advance:
                pieces = _pieces(options["file"], advance)
                first = next(pieces, b"")
                found = begin_import(access, wanted)
                stage_lines(access, found.pk, _rest(first, pieces))
            found = check_import(access, found.pk)
            run_job(found.job.pk)
        with gate.session():
            access = open_vault(options["vault"], "import_vault")
            self._tell(get_import(access, found.pk))

    def _tell(self, found: VaultImport) -> None:
        if found.error or found.job.error:
            raise FileRefused(found.error or f"The import stopped ({found.job.error}); a worker will go on with it.")
        counts = found.found if found.options["dry_run"] else found.made
        for kind, by_fate in sorted(counts.items()):
            told = ", ".join(f"{count} {fate.replace('_', ' ')}" for fate, count in by_fate.items())
            self.stdout.write(f"{kind}: {told}")
        for refusal in (found.refused or [])[:REFUSALS_SHOWN]:
            self.stderr.write(f"  line {refusal['line']}: {refusal['detail']}")
        if found.options["dry_run"]:
            self.stdout.write("Nothing was changed. Without --dry-run it is imported.")
        elif found.changeset is not None:
            self.stdout.write(f"Imported as changeset {found.changeset.pk}, which can be undone as one.")
        if Tally(counts).total("refused"):
            sys.exit(1)


def _pieces(path: Path, advance: Any) -> Iterator[bytes]:
    try:
        total, done = path.stat().st_size, 0
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                done += len(piece)
                advance("file", done, total)
                yield piece
    except OSError as error:
        raise FileRefused(f"{path} cannot be read: {error.strerror or error}.") from None


def _rest(first: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from pieces
