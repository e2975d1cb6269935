"""``manage.py import KIND FILE``: what another memory program kept, into a vault, checked first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from memories.management.importing import bring
from memories.management.operator import only_vault
from memories.rules.importers.kinds import ImportKind
from memories.rules.imports import ImportOptions
from memories.services.sources import SourceFile

if TYPE_CHECKING:
    from argparse import ArgumentParser

FOUND_OUT = "auto"


class Command(BaseCommand):
    """Run it again with the same file: it goes on where it stopped, and what is here already stays as it is."""

    help = "Import what mem0, hindsight, mcp-memory-service, LangMem, Letta or Markdown notes hold, or an export."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose file, which file, where to, how."""
        kinds = [FOUND_OUT, *(kind.value for kind in ImportKind)]
        parser.add_argument("kind", choices=kinds, help="whose file it is; auto finds out")
        parser.add_argument("file", type=Path, help="the file, or for Markdown the folder")
        parser.add_argument("--vault", help="name or id of the vault; not needed where there is only one")
        parser.add_argument("--bank", help="the bank its memories go to; without it the default bank")
        parser.add_argument("--namespace", help="the namespace they go to, its parts joined by slashes; else their own")
        parser.add_argument("--dry-run", action="store_true", help="only say what would become of every record")
        parser.add_argument("--dedup", action="store_true", help="compare by meaning too, as any write does")
        parser.add_argument("--update", action="store_true", help="overwrite what is here and says something else")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit code 1 when the file, or a record of it, was refused."""
        wanted = ImportOptions(**{name: options[name] for name in ("dry_run", "dedup", "update")})
        parts = tuple(part for part in (options["namespace"] or "").split("/") if part)
        source = SourceFile(
            options["file"].name,
            path=options["file"],
            kind=None if options["kind"] == FOUND_OUT else ImportKind(options["kind"]),
            bank=options["bank"],
            namespace=parts or None,
        )
        bring(self, options["vault"] or only_vault(), source, wanted)
