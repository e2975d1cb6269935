"""``manage.py mcp``: the hub's tools over stdin and stdout."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from memories.management.proxy import HubRefused, Proxy
from memoryhub.env import environment
from memoryhub.local.datadir import locate

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """For MCP clients that start a program; those that speak HTTP use the address /mcp instead."""

    help = "Serve the tools of a running hub over stdin and stdout (MCP)."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where the hub is and who calls."""
        parser.add_argument("--url", help="address of the hub ($MEMORYHUB_URL; else that of its last start here)")
        parser.add_argument("--key", help="API key ($MEMORYHUB_KEY; else that of the first start here)")
        parser.add_argument("--bank", default="", help="its slug: only this bank is seen and written to")

    def handle(self, *args: Any, **options: Any) -> None:
        """Runs until stdin ends."""
        known = _bootstrap()
        url = (options["url"] or os.environ.get("MEMORYHUB_URL") or known.get("url", "")).strip()
        key = (options["key"] or os.environ.get("MEMORYHUB_KEY") or known.get("api_key", "")).strip()
        if not url or not key:
            raise CommandError("Say where the hub is (--url http://127.0.0.1:8000) and who calls (--key mh_live_…).")
        try:
            opened = Proxy.to(url, key, options["bank"])
        except HubRefused as error:
            raise CommandError(str(error)) from error
        with opened as proxy:
            try:
                proxy.check()
            except HubRefused as error:
                raise CommandError(f"No hub answers at {url}, or it refuses the key. {error}") from error
            proxy.serve(sys.stdin.buffer, sys.stdout)


def _bootstrap() -> dict[str, str]:
    """What the first start wrote down, nothing when this is not the hub's machine."""
    try:
        found: dict[str, str] = json.loads(locate(environment().data).bootstrap.read_text())
    except (OSError, ValueError):
        return {}
    return found
