"""``manage.py backup FILE``: the whole store in one file, also while the hub runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from memories.management.backup.dumping import back_up_store
from memories.management.progress import shown_steps

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Says what the file holds and what it does not."""

    help = "Write the database into one file of mode 0600, with a check of the keys but without them."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to."""
        parser.add_argument("file", type=Path, help="the file to write")
        parser.add_argument("--overwrite", action="store_true", help="replace a file of that name, once it is whole")

    def handle(self, *args: Any, **options: Any) -> None:
        """The file is there whole, or not at all."""
        path: Path = options["file"]
        with shown_steps("Backing up") as advance:
            manifest = back_up_store(path, advance, overwrite=options["overwrite"])
        counts = manifest.counts
        keys = ", ".join(map(str, manifest.needed)) or "none"
        self.stdout.write(
            f"{path} holds {counts['vault']} vaults with {counts['memory']} memories and {counts['message']} messages "
            f"({path.stat().st_size / 2**20:.1f} MiB). It opens only with encryption key {keys}, which is not in it: "
            "keep the keys (keys.json or MEMORYHUB_KEYS) elsewhere."
        )
