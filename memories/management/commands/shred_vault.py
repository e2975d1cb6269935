"""``manage.py shred_vault NAME``: destroy a vault's keys and everything it held."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memories.management.operator import open_vault
from memories.services.shredding import shred_vault
from memoryhub.lib.errors import HubError
from memoryhub.lib.sealing import gate


class Command(BaseCommand):
    """Asks for the name again unless ``--confirm NAME`` says it."""

    help = "Destroy a vault's data keys: nothing in this store can be read again (backups still can)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--confirm", help="the vault's name once more, instead of typing it")
        parser.add_argument("--json", action="store_true", help="print the receipt as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        with gate.session():
            try:
                access = open_vault(options["name"], "shred-vault")
                typed = options["confirm"] or input(f"This cannot be undone. Type “{access.vault.name}” to go on: ")
                receipt = shred_vault(access, typed)
            except HubError as error:
                told = "; ".join(item.detail for item in error.errors)
                raise CommandError(f"{error.message} {told}".strip()) from error
        if options["json"]:
            said = {"receipt": str(receipt.pk), "vault": str(receipt.vault_id), "removed": receipt.removed}
            self.stdout.write(json.dumps({**said, "signature": bytes(receipt.signature or b"").hex()}))
        else:
            self.stdout.write(f"Vault “{access.vault.name}” is shredded. Receipt {receipt.pk}:")
            for thing, count in sorted(receipt.removed.items()):
                self.stdout.write(f"  {count:>9,} {thing.replace('_', ' ')}")
            self.stdout.write(
                "Backups made before hold the wrapped key and open it as long as the master key exists: "
                "delete them, or rotate the master key and destroy the old one."
            )
