"""``manage.py export_vault NAME FILE``: a vault as JSON lines, in plain text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from memories.management.operator import open_vault
from memories.management.progress import shown_steps
from memories.management.wholefile import whole_file
from memories.models import Memory
from memories.services.exporting import export_vault
from memoryhub.lib.sealing import gate

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """The file is there whole, or not at all."""

    help = "Write everything in a vault into a file of mode 0600, in plain text; it is audited."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What and where to."""
        parser.add_argument("vault", help="name or id of the vault")
        parser.add_argument("file", type=Path, help="the file to write")
        parser.add_argument("--revisions", action="store_true", help="also what memories were before their changes")
        parser.add_argument("--overwrite", action="store_true", help="replace a file of that name, once it is whole")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit code 1 and one sentence when it cannot be written."""
        path: Path = options["file"]
        with gate.session(), shown_steps("Exporting") as advance:
            access = open_vault(options["vault"], "export_vault")
            total = Memory.objects.in_vault(access.vault_id).count()
            with whole_file(path, overwrite=options["overwrite"]) as file:
                lines = 0
                for chunk in export_vault(access, with_revisions=options["revisions"]):
                    file.write(chunk)
                    lines += chunk.count(b"\n")
                    advance("lines", lines, max(total, lines))
        size = path.stat().st_size / 2**20
        self.stdout.write(
            f"{path} holds vault “{access.vault.name}” in plain text: {lines} lines, {size:.1f} MiB. "
            "Keep it like a secret; `manage.py import_vault` reads it."
        )
