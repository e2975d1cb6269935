"""``manage.py create_vault NAME``: a new vault and a key that may do everything in it."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from banks.access import ALL_SCOPES, Door, system_access
from banks.services.drafts import KeyDraft
from banks.services.keys import create_key
from banks.services.vaults import create_vault
from memoryhub.lib.errors import HubError
from memoryhub.lib.sealing import gate


class Command(BaseCommand):
    """Creates the vault; every superuser becomes its owner unless ``--owner`` names one person."""

    help = "Create a vault with its seven banks and print an API key with every scope, this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--owner", help="the user who owns it (default: every superuser)")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        people = get_user_model().objects.filter(is_active=True)
        owners = list(
            people.filter(username=options["owner"]) if options["owner"] else people.filter(is_superuser=True)
        )
        if options["owner"] and not owners:
            raise CommandError(f"There is no user {options['owner']}; create one first.")
        with gate.session():
            try:
                vault = create_vault(options["name"], *owners)
                key = KeyDraft(name="first key", scopes=sorted(ALL_SCOPES))
                _, secret = create_key(system_access(vault.pk, door=Door.COMMAND), key)
            except HubError as error:
                raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps({"vault": str(vault.pk), "name": vault.name, "api_key": secret}))
        else:
            self.stdout.write(f"Vault: {vault.name}\nAPI key (shown this once): {secret}")
