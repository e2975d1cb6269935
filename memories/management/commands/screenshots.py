"""``manage.py screenshots``: the pictures of README and docs, taken of the sample vault."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from memories.management.bench.hub import throwaway_hub
from memories.management.pictures import Login, Shot, chromium, take
from memoryhub.env import BASE_DIR

if TYPE_CHECKING:
    from argparse import ArgumentParser

SHOTS = (
    Shot("overview", "/"),
    Shot("memories", "/memories/"),
    Shot("memory", "/memories/?q=staging+postgresql", follow="main a[href^='/memories/0']"),
    Shot("recall", "/recall/?q=where+do+the+nightly+backups+of+pelican+go"),
    Shot("cleanup", "/cleanup/", follow="main a[href^='/cleanup/plans/']"),
)


class Command(BaseCommand):
    """Nothing is drawn by hand: the pictures show what the code does."""

    help = "Take the pictures of README and docs, light and dark, of a throwaway hub with the sample vault."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to, and of which hub."""
        folder = BASE_DIR / "docs" / "images"
        parser.add_argument("--out", type=Path, default=folder, help="folder for the pictures (docs/images)")
        parser.add_argument("--only", nargs="+", choices=[one.name for one in SHOTS], help="only these pages")
        parser.add_argument("--url", help="of a hub that runs already, with --username and --password")
        parser.add_argument("--username", default="admin", help="who looks (default: admin)")
        parser.add_argument("--password", default="", help="the password of --username")

    def handle(self, *args: Any, **options: Any) -> None:
        """Says each picture's path."""
        shots = [one for one in SHOTS if not options["only"] or one.name in options["only"]]
        with ExitStack() as stack:
            browser = stack.enter_context(chromium())
            login = Login(str(options["url"] or "").rstrip("/"), options["username"], options["password"])
            if not login.url:
                hub = stack.enter_context(throwaway_hub("--demo"))
                login = Login(hub.url, hub.username, hub.password)
            for path in take(browser, login, shots, options["out"]):
                self.stdout.write(f"{path}  {path.stat().st_size // 1000} kB")
