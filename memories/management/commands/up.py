"""``manage.py up``: start the hub."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from memories.management.running import run_hub
from memoryhub.env import environment
from memoryhub.local.commands import HubPlan

if TYPE_CHECKING:
    from argparse import ArgumentParser

WORKERS = 2


class Command(BaseCommand):
    """Parses the options; ``memories.management.running`` does the work."""

    help = "Start the whole hub: database, broker, web server, worker and clock. Ctrl-C stops all of it."
    requires_system_checks: list[str] = []  # Django's own checks need a database; it runs only later

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What a start may choose."""
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (default: 8000)")
        # manage.py has read it by now: the settings depend on it.
        parser.add_argument("--data", type=Path, help="data folder (default: $MEMORYHUB_DATA, else var/)")
        parser.add_argument("--demo", action="store_true", help="fill the hub with a sample vault")
        parser.add_argument("--no-worker", action="store_true", help="run no worker and no clock: jobs wait")
        parser.add_argument("--workers", type=int, default=WORKERS, metavar="N", help=f"job processes ({WORKERS})")

    def handle(self, *args: Any, **options: Any) -> None:
        """Runs until it is stopped."""
        plan = HubPlan(
            host=options["host"],
            port=options["port"],
            workers=0 if options["no_worker"] else max(0, options["workers"]),
            env=environment(),
        )
        run_hub(plan, self._say, demo=options["demo"])

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        sys.stdout.flush()
