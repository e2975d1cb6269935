"""``manage.py import_vault FILE --vault V``: the lines of an export into a vault, checked first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from memories.management.importing import bring
from memories.rules.importers.kinds import ImportKind
from memories.rules.imports import ImportOptions
from memories.services.sources import SourceFile

if TYPE_CHECKING:
    from argparse import ArgumentParser


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
        source = SourceFile(options["file"].name, path=options["file"], kind=ImportKind.MEMORYHUB)
        bring(self, options["vault"], source, wanted)
