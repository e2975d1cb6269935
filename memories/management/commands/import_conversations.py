"""``manage.py import_conversations FILE --vault V``: the turns of real conversations as memories."""

from __future__ import annotations

import sys
from argparse import BooleanOptionalAction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from memories.management.operator import open_vault
from memories.management.reading import read_json
from memories.rules.conversations import ImportChoices, read_conversations
from memories.services.conversations import ImportReport, import_conversations
from memoryhub.lib.sealing import gate

if TYPE_CHECKING:
    from argparse import ArgumentParser

FAILURES_SHOWN = 5


class Command(BaseCommand):
    """Reads the file whole before it writes anything, so that a bad file changes nothing."""

    help = "Import a JSON file of conversations into a vault; importing it again changes nothing."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to read, where to, how."""
        parser.add_argument("file", type=Path, help="JSON file: {conversations: [{id, memories: [{id, session, …}]}]}")
        parser.add_argument("--vault", required=True, help="name or id of the vault")
        parser.add_argument("--bank", help="bank of the memories (default: the vault's default bank)")
        parser.add_argument(
            "--dedup",
            action=BooleanOptionalAction,
            default=False,
            help="leave out turns that say what is already there (default: every turn becomes a memory)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit code 1 when a turn could not be written."""
        conversations = read_conversations(read_json(options["file"]))
        choices = ImportChoices(bank=options["bank"], dedup=options["dedup"])
        turns = sum(len(conversation.memories) for conversation in conversations)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        console = Console(stderr=True)
        bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        with gate.session(), bar as progress:
            access = open_vault(options["vault"], "import_conversations")
            task = progress.add_task("Importing turns", total=turns)
            report = import_conversations(
                access, conversations, choices, lambda done: progress.advance(task, float(done))
            )
        self._tell(report, turns, len(conversations), access.vault.name)
        if report.failed:
            sys.exit(1)

    def _tell(self, report: ImportReport, turns: int, conversations: int, vault: str) -> None:
        told = f"{turns} turns of {conversations} conversations, vault “{vault}”: "
        if not report.changed_something and not report.failed:
            self.stdout.write(f"{told}everything was already there; nothing was changed.")
            return
        parts = {
            "new": report.created,
            "updated": report.updated,
            "duplicates left out": report.duplicates,
            "already there": report.unchanged,
            "failed": len(report.failed),
        }
        self.stdout.write(told + ", ".join(f"{count} {what}" for what, count in parts.items() if count) + ".")
        for failure in report.failed[:FAILURES_SHOWN]:
            self.stderr.write(f"  {failure}")
