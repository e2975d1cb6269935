"""``manage.py restore FILE``: a backup in the place of the present store, with the hub stopped."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from banks.models import Vault
from memories.management.backup.manifest import ReadManifest
from memories.management.backup.restoring import StoreNotEmpty, check_backup, refuse_unless_empty, restore_store
from memories.management.backup.swapping import HubRunning
from memories.management.firststart import read_bootstrap
from memories.management.progress import shown_steps
from memoryhub.env import environment
from memoryhub.local.datadir import locate, prepare
from memoryhub.local.embedded import embedded_database
from memoryhub.local.locks import hub_runs

if TYPE_CHECKING:
    from argparse import ArgumentParser

TYPED = "replace"


class Command(BaseCommand):
    """File and keys are checked before a database is even opened, so that a wrong one changes nothing."""

    help = "Put a backup in the place of the store. The hub must be stopped, and its keys must be the backup's."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to read, and what may be lost."""
        parser.add_argument("file", type=Path, help="a file `manage.py backup` wrote")
        parser.add_argument("--replace", action="store_true", help=f"replace what is there, after typing “{TYPED}”")
        parser.add_argument(
            "--without-keys", action="store_true", help="restore now, bring the keys later: until then nothing starts"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Opens the embedded database itself: on a new machine there is none yet."""
        env = environment()
        with shown_steps("Checking") as advance:
            read = check_backup(options["file"], advance, without_keys=options["without_keys"])
        if env.database_url is None:
            if hub_runs(locate(env.data)):
                raise HubRunning
            prepare(env.data)
        with embedded_database(env.data) if env.database_url is None else nullcontext():
            self.agree(replace=options["replace"])
            with shown_steps("Restoring") as advance:
                restore_store(options["file"], advance, without_keys=options["without_keys"])
            self._tell(read, without_keys=options["without_keys"])

    def agree(self, *, replace: bool) -> None:
        """Raises StoreNotEmpty unless nothing is lost, or somebody typed that it may be."""
        try:
            refuse_unless_empty()
        except StoreNotEmpty as error:
            if not replace:
                raise
            self.stdout.write(error.message.split(";")[0] + ". All of it will be gone.")
            if _typed(f"Type “{TYPED}” to go on: ") != TYPED:
                raise StoreNotEmpty("Nothing was changed.") from None

    def _tell(self, read: ReadManifest, *, without_keys: bool) -> None:
        datadir = locate(environment().data)
        counts = read.manifest.counts
        self.stdout.write(
            f"Restored {counts['vault']} vaults with {counts['memory']} memories and {counts['message']} messages, "
            f"as of {read.manifest.created_at[:19]} UTC. Start the hub with `manage.py up`."
        )
        told = read_bootstrap(datadir)
        if told is not None and not Vault.objects.filter(pk=told.vault).exists():
            datadir.bootstrap.unlink()  # names a login and a key of the store that is gone
        if without_keys:
            ids = ", ".join(map(str, read.manifest.needed))
            self.stdout.write(f"Nothing can be read, and the hub does not start, until encryption key {ids} is back.")
        elif read.names_other_pepper():
            self.stdout.write("The pepper is another one: API keys of the backup are refused; make new ones.")


def _typed(question: str) -> str:
    try:
        return input(question).strip()
    except EOFError:
        return ""
