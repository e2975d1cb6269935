"""``manage.py rotate_keys``: a new master key, new data keys, or both, while the hub is used."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from banks.services.keyring import active_master_key, rotate_master_key, unused_master_keys, wrapped_otherwise
from memories.management.following import chosen_vaults, move
from memories.management.telling import tell_move
from memories.rules.datamigrations import DataMigration
from memories.services.datamigrations import record_master_key
from memoryhub.env import environment, keys_file
from memoryhub.lib.errors import HubError
from memoryhub.lib.sealing import gate
from memoryhub.local.keyfile import add_master_key

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Master keys belong to the store and only wrap; data keys belong to a vault and seal."""

    help = "Replace the master key (quick), the data keys of a vault or of all (everything is sealed anew), or both."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which keys, of which vaults."""
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--master", action="store_true", help="only the master key")
        which.add_argument("--data", action="store_true", help="only data keys")
        parser.add_argument("--vault", help="name or id of the vault whose data key is replaced (default: all)")
        parser.add_argument("--background", action="store_true", help="leave the sealing to the workers")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit code 1 when a key could not be replaced."""
        done = options["data"] or options["vault"] is not None or self._master()
        if not options["master"]:
            done = self._data(options["vault"], background=options["background"]) and done
        if not done:
            sys.exit(1)

    def _master(self) -> bool:
        added = add_master_key(environment())
        active = active_master_key()
        if added is None and not wrapped_otherwise():
            self.stdout.write(_how_to_add(active))
            return False
        with gate.session():
            changed = rotate_master_key()
        record_master_key(active, changed)
        self.stdout.write(f"Master key {active} wraps every data key; {changed} were wrapped anew.")
        if unused := unused_master_keys():
            named = ", ".join(map(str, unused))
            self.stdout.write(f"No longer needed here: {named}. Keep it apart for as long as you keep older backups.")
        return True

    def _data(self, name: str | None, *, background: bool) -> bool:
        done = True
        for vault in chosen_vaults(name):
            try:
                record = move(vault, DataMigration.RESEAL, None, background=background)
            except HubError as error:
                done = False
                self.stdout.write(f"{vault.name}: {error.message}")
            else:
                done = tell_move(self.stdout.write, vault, record) and done
        return done


def _how_to_add(active: int) -> str:
    env = environment()
    where = f"the file {env.keys_file}" if env.keys_file and not env.keys else "the variable MEMORYHUB_KEYS"
    if not env.keys and not env.keys_file:
        where = f"{keys_file(env.data)} (MEMORYHUB_ACTIVE_KEY says which one is active)"
    return (
        f"The master keys are yours to edit: add “,{active + 1}:KEY” to {where}, with a KEY from "
        "`openssl rand -base64 32`. Keep the older ones, restart every process, and run this again; "
        "the highest id wraps."
    )
