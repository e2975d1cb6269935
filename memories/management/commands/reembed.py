"""``manage.py reembed``: move vaults to another embedding space while they are used."""

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
    """One vault after the other; one that cannot be moved is named and does not hold the others up."""

    help = "Make the vectors of a vault (or of all) anew with another embedder, then switch; searches go on."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which vaults, where to."""
        parser.add_argument("--vault", help="name or id of one vault (default: all)")
        parser.add_argument("--to", metavar="SPACE", help="provider/model (default: what is configured)")
        parser.add_argument("--background", action="store_true", help="leave the work to the workers")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit code 1 when a vault could not be moved."""
        failed = False
        for vault in chosen_vaults(options["vault"]):
            try:
                record = move(vault, DataMigration.REEMBED, options["to"], background=options["background"])
            except HubError as error:
                failed = failed or options["vault"] is not None or error.code != "no_target"
                self.stdout.write(f"{vault.name}: {error.message}")
            else:
                failed = not tell_move(self.stdout.write, vault, record) or failed
        if failed:
            sys.exit(1)
