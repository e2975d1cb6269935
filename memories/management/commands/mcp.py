"""``manage.py mcp``: the hub's tools over stdin and stdout."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from memories.management.proxy import serve_stdio
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
        parser.add_argument("--key", help="API key ($MEMORYHUB_API_KEY; else that of the first start here)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Runs until stdin ends."""
        known = _bootstrap()
        url = options["url"] or os.environ.get("MEMORYHUB_URL") or known.get("url")
        key = options["key"] or os.environ.get("MEMORYHUB_API_KEY") or known.get("api_key")
        if not url or not key:
            raise CommandError("Say where the hub is (--url http://127.0.0.1:8000) and who calls (--key mh_live_…).")
        try:
            asyncio.run(serve_stdio(url, key))
        except Exception as error:
            raise CommandError(f"No hub answers at {url}, or it refuses the key. {_first(error)}") from error


def _bootstrap() -> dict[str, str]:
    """What the first start wrote down, nothing when this is not the hub's machine."""
    try:
        found: dict[str, str] = json.loads(locate(environment().data).bootstrap.read_text())
    except (OSError, ValueError):
        return {}
    return found


def _first(error: BaseException) -> str:
    """The first cause of a group, as tasks of an event loop end in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error)
