"""``manage.py load_demo``: a sample vault to look around in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from memories.management.demo.loading import choose_vault, is_told, tell
from memories.management.demo.nights import dream_of_talks
from memories.management.operator import open_vault
from memoryhub.lib.sealing import gate

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Loads the story once; a vault that holds it already stays as it is."""

    help = "Fill a vault with about 400 sample memories; loading them again changes nothing."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to."""
        parser.add_argument(
            "--vault", help="name or id of the vault (default: the only vault while it is empty, else one called Demo)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Says how many memories there are."""
        with gate.session():
            name = options["vault"]
            vault = open_vault(name, "load_demo").vault if name else choose_vault()
            if is_told(vault):
                self.stdout.write(f"The vault “{vault.name}” holds the sample memories already; nothing was changed.")
                return
            count = tell(vault)
            dream_of_talks(vault)
        self.stdout.write(f"{count} sample memories are in the vault “{vault.name}”.")
