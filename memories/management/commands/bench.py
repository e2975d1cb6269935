"""``manage.py bench``: how fast the hub is, measured from outside on a vault of the size asked for."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from memories.management.bench.client import BenchFailed
from memories.management.bench.hub import Hub, throwaway_hub
from memories.management.bench.load import fill, wait_for_jobs
from memories.management.bench.measure import MEASURES, Bench, Numbers, measure_floor, measure_memory
from memories.management.bench.recall import measure_recall, measure_recall_elsewhere
from memories.management.bench.report import as_json, as_text
from memories.management.bench.words import Author
from memoryhub.lib.errors import HubError


class Command(BaseCommand):
    """Starts a throwaway hub, fills it, measures it, and removes it again."""

    help = "Measure writing, searching or listing on a vault of N synthetic memories (in a throwaway hub unless --url)."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", nargs="+", choices=[*MEASURES, "recall"], help="what to measure")
        parser.add_argument("--memories", type=int, default=10_000, metavar="N", help="size of the vault (10,000)")
        parser.add_argument("--requests", type=int, default=400, metavar="N", help="calls per measurement (400)")
        parser.add_argument("--seed", type=int, default=1, help="equal seeds write equal memories")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here as well")
        parser.add_argument("--url", help="measure a hub that runs already; it will keep what is written")
        parser.add_argument("--key", help="API key for --url, with the scope import")
        quality = parser.add_argument_group("recall", "what is found of what should be")
        quality.add_argument("--data", type=Path, nargs="+", metavar="FILE", help="conversations with questions")
        quality.add_argument("--together", action="store_true", help="all of a file's conversations in one vault")
        quality.add_argument("--fit", action="store_true", help="fit the weights instead (give every file)")
        quality.add_argument("--here", action="store_true", help="in the hub of MEMORYHUB_DATA, which keeps it")

    def handle(self, *args: Any, **options: Any) -> None:
        if "recall" in options["what"]:
            self._recall(options)
            return
        if bool(options["url"]) != bool(options["key"]):
            raise CommandError("Give --url and --key together, or neither.")
        given = Hub(options["url"].rstrip("/"), options["key"]) if options["url"] else None
        console = Console(stderr=True)
        try:
            with nullcontext(given) if given else throwaway_hub() as hub:
                numbers = self._measure(hub, options, console)
        except BenchFailed as error:
            raise CommandError(error.message) from error
        self.stdout.write(as_text(options["memories"], numbers))
        if options["json"]:
            options["json"].write_text(json.dumps(as_json(options["memories"], numbers), indent=2) + "\n")
            self.stdout.write(f"The same numbers are in {options['json']}.")

    def _recall(self, options: dict[str, Any]) -> None:
        if options["what"] != ["recall"] or not options["data"]:
            raise CommandError("`bench recall` stands alone and needs --data FILE.")
        files = [path.resolve() for path in options["data"]]
        flags = [f"--{flag}" for flag in ("together", "fit") if options[flag]]
        try:
            if options["here"]:
                console = Console(stderr=True)
                told = measure_recall(files, together=options["together"], fitting=options["fit"], console=console)
                self.stdout.write(told)
            else:
                measure_recall_elsewhere([*flags, "--data", *map(str, files)])
        except HubError as error:
            raise CommandError(error.message) from error

    def _measure(self, hub: Hub, options: dict[str, Any], console: Console) -> Numbers:
        author, size = Author(options["seed"]), options["memories"]
        # In a hub that is kept, numbers must not repeat those of an earlier run: their texts would be duplicates.
        next_number = size if hub.process else size + int(time.time()) * 1_000
        bench = Bench(hub, author, size, options["requests"], next_number)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console) as progress, bench.client() as client:
            task = progress.add_task("filling", total=size)
            filling = fill(client, author, size, lambda more: progress.advance(task, more))
            progress.update(task, description="waiting for jobs")
            waited = wait_for_jobs(client)
        numbers = measure_floor(bench)
        if filling.written:
            numbers |= {"fill.per_second": filling.written / filling.seconds, "fill.jobs_seconds": waited}
            numbers |= {"fill.created_share": filling.created / filling.written}
        for what in dict.fromkeys(options["what"]):
            console.print(f"measuring {what} …")
            numbers |= MEASURES[what](bench)
        return numbers | measure_memory(bench)
