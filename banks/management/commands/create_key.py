"""``manage.py create_key --vault NAME``: another API key, at a terminal."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from banks.access import SCOPES_FOR, Door, system_access
from banks.services.drafts import KeyDraft
from banks.services.keys import create_key
from banks.services.vaults import find_vault
from memoryhub.lib.errors import HubError
from memoryhub.lib.sealing import gate


class Command(BaseCommand):
    """Creates the key with every scope, those somebody like that needs, or those named."""

    help = "Create an API key in a vault and print it, this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--vault", required=True, help="name or id")
        parser.add_argument("--name", default="key from the terminal")
        may = parser.add_mutually_exclusive_group()
        may.add_argument("--for", dest="whom", choices=SCOPES_FOR, default="all", help="what it may do (default: all)")
        may.add_argument("--scope", action="append", help="a single scope instead; repeat for several")
        parser.add_argument("--bank", action="append", help="limit to this bank; repeat for several")
        parser.add_argument("--agent", help="name or id of the agent the key belongs to")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = {
            "name": options["name"],
            "scopes": options["scope"] or sorted(SCOPES_FOR[options["whom"]]),
            "banks": options["bank"],
            "agent": options["agent"],
        }
        with gate.session():
            try:
                access = system_access(find_vault(options["vault"]).pk, door=Door.COMMAND)
                key, secret = create_key(access, KeyDraft.parse(wanted))
            except HubError as error:
                details = "; ".join(f"{item.pointer.lstrip('/')}: {item.detail}" for item in error.errors)
                raise CommandError(f"{error.message} {details}".strip()) from error
        if options["json"]:
            self.stdout.write(json.dumps({"id": str(key.pk), "api_key": secret}))
        else:
            self.stdout.write(f"API key (shown this once): {secret}")
