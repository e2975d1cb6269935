"""``manage.py bench``: how fast the hub is, measured from outside on a store of the size asked for."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console

from memories.management.bench import extract
from memories.management.bench.calibrate import calibrate
from memories.management.bench.cluster import measure_clustering
from memories.management.bench.dedup import measure_dedup
from memories.management.bench.direct import finish, write_share
from memories.management.bench.events import measure_events
from memories.management.bench.hub import Hub
from memories.management.bench.importing import measure_import
from memories.management.bench.layout import Layout
from memories.management.bench.recall import measure_elsewhere, measure_recall
from memories.management.bench.report import as_json, as_text
from memories.management.bench.running import MEASURES, Run, run_bench
from memories.management.bench.starting import measure_starts
from memories.management.bench.statemachine import measure_statemachine
from memoryhub.lib.errors import HubError


class Command(BaseCommand):
    """Starts a hub, fills it, measures it, and removes it again unless it is to be kept."""

    help = "Measure writing, searching or listing on synthetic memories (in a throwaway hub unless --url or --keep)."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", nargs="+", choices=[*MEASURES, "fill", *QUALITY], help="what to measure")
        parser.add_argument("--memories", type=int, default=10_000, metavar="N", help="size of a vault (10,000)")
        parser.add_argument("--vaults", type=int, default=1, metavar="N", help="so many vaults of that size (1)")
        parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the store here; measure it if it is there")
        parser.add_argument("--requests", type=int, default=400, metavar="N", help="calls per measurement (400)")
        parser.add_argument("--seed", type=int, default=1, help="equal seeds write equal memories")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here as well")
        parser.add_argument("--url", help="measure a hub that runs already; it will keep what is written")
        parser.add_argument("--key", help="API key for --url, with the scope import")
        parser.add_argument("--here", action="store_true", help="in the hub of MEMORYHUB_DATA, which keeps it")
        parser.add_argument("--share", metavar="N/M", help="fill --here: only every M-th part of it")
        parser.add_argument("--finish", action="store_true", help="fill --here: build the indexes of what is there")
        parser.add_argument("--runs", type=int, default=100, metavar="N", help="statemachine: random walks (100)")
        parser.add_argument("--kill", action="store_true", help="import: kill whoever is at it halfway through")
        quality = parser.add_argument_group("recall", "what is found of what should be")
        quality.add_argument("--data", type=Path, nargs="+", metavar="FILE", help="conversations with questions")
        quality.add_argument("--together", action="store_true", help="all of a file's conversations in one vault")
        quality.add_argument("--fit", action="store_true", help="fit the weights instead (give every file)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if alone := set(QUALITY) & set(options["what"]):
                self._quality(alone.pop(), options)
            elif options["here"]:
                self._fill_here(options)
            else:
                self._bench(options)
        except HubError as error:
            raise CommandError(error.message) from error

    def _bench(self, options: dict[str, Any]) -> None:
        if bool(options["url"]) != bool(options["key"]):
            raise CommandError("Give --url and --key together, or neither.")
        layout = _layout(options)
        if options["url"] and (options["keep"] or layout.vaults > 1):
            raise CommandError("--url measures the one vault of its key: give neither --keep nor --vaults with it.")
        if "write" in options["what"] and layout.vaults > 1:
            raise CommandError("Writing is measured in one vault: leave --vaults out.")
        numbers = run_bench(
            Run(
                what=options["what"],
                layout=layout,
                requests=options["requests"],
                console=Console(stderr=True),
                given=Hub(options["url"].rstrip("/"), options["key"]) if options["url"] else None,
                keep=options["keep"],
            )
        )
        self.stdout.write(as_text(layout, numbers))
        if options["json"]:
            options["json"].write_text(json.dumps(as_json(layout, numbers), indent=2) + "\n")
            self.stdout.write(f"The same numbers are in {options['json']}.")

    def _fill_here(self, options: dict[str, Any]) -> None:
        """One of the processes of a direct fill: lines of JSON for the one that started it."""
        if options["finish"]:
            self._say(json.dumps(asdict(finish(_layout(options)))))
        elif options["share"]:
            share, shares = map(int, options["share"].split("/"))
            write_share(_layout(options), share, shares, self._say)

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        sys.stdout.flush()

    def _quality(self, what: str, options: dict[str, Any]) -> None:
        if options["what"] != [what]:
            raise CommandError(f"`bench {what}` stands alone.")
        QUALITY[what](self, options)

    def _dedup(self, options: dict[str, Any]) -> None:
        if options["here"]:
            self.stdout.write(measure_dedup())
        else:
            measure_elsewhere("dedup")

    def _cluster(self, options: dict[str, Any]) -> None:
        if options["here"]:
            self.stdout.write(measure_clustering(options["memories"], options["seed"], Console(stderr=True)))
        else:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in a worker, which does this work
            measure_elsewhere("cluster", [f"--memories={options['memories']}", f"--seed={options['seed']}"])

    def _statemachine(self, options: dict[str, Any]) -> None:
        if options["here"]:
            self.stdout.write(measure_statemachine(options["runs"], options["seed"], Console(stderr=True)))
        else:
            measure_elsewhere("statemachine", [f"--runs={options['runs']}", f"--seed={options['seed']}"])

    def _calibrate(self, options: dict[str, Any]) -> None:
        self.stdout.write(calibrate())

    def _events(self, options: dict[str, Any]) -> None:
        self.stdout.write(measure_events())

    def _import(self, options: dict[str, Any]) -> None:
        rows, seed, console = options["memories"], options["seed"], Console(stderr=True)
        self.stdout.write(measure_import(rows, seed, console, kill=options["kill"]))

    def _start(self, options: dict[str, Any]) -> None:
        self.stdout.write(measure_starts())

    def _extract(self, options: dict[str, Any]) -> None:
        self.stdout.write(extract.as_text(extract.measure()))

    def _recall(self, options: dict[str, Any]) -> None:
        if not options["data"]:
            raise CommandError("`bench recall` needs --data FILE.")
        files = [path.resolve() for path in options["data"]]
        flags = [f"--{flag}" for flag in ("together", "fit") if options[flag]]
        if options["here"]:
            console = Console(stderr=True)
            told = measure_recall(files, together=options["together"], fitting=options["fit"], console=console)
            self.stdout.write(told)
        else:
            measure_elsewhere("recall", [*flags, "--data", *map(str, files)])


def _layout(options: dict[str, Any]) -> Layout:
    return Layout(options["memories"], options["vaults"], options["seed"])


#: What stands alone: most of it is measured by its results and not by the clock.
QUALITY: dict[str, Callable[[Command, dict[str, Any]], None]] = {
    "recall": Command._recall,
    "dedup": Command._dedup,
    "cluster": Command._cluster,
    "calibrate": Command._calibrate,
    "statemachine": Command._statemachine,
    "extract": Command._extract,
    "events": Command._events,
    "start": Command._start,
    "import": Command._import,
}
