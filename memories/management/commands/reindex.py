"""``manage.py reindex``: compare the index with what it is made of and mend it, while it is searched."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from memories.management.following import chosen_vaults, move
from memories.management.telling import tell_move
from memories.rules.datamigrations import DataMigration
from memoryhub.lib.errors import HubError

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """What `doctor` finds missing is made; what is right is left alone."""

    help = "Mend the keyword index of a vault (or of all) and make vectors that are missing; searches go on."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which vaults."""
        parser.add_argument("--vault", help="name or id of one vault (default: all)")
        parser.add_argument("--background", action="store_true", help="leave the work to the workers")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit code 1 when a vault could not be done."""
        failed = False
        for vault in chosen_vaults(options["vault"]):
            try:
                record = move(vault, DataMigration.REINDEX, None, background=options["background"])
            except HubError as error:
                failed = True
                self.stdout.write(f"{vault.name}: {error.message}")
            else:
                failed = not tell_move(self.stdout.write, vault, record) or failed
        if failed:
            sys.exit(1)
