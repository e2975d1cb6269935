"""One bench from the hub it needs to the numbers: filled first, over HTTP or directly, then measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from memories.management.bench.agents import measure_mcp
from memories.management.bench.cleanup import measure_cleanup
from memories.management.bench.direct import fill_directly, finish_directly
from memories.management.bench.hub import Hub, hub_at, throwaway_folder, throwaway_hub
from memories.management.bench.layout import Kept, Layout, read_note, write_note
from memories.management.bench.load import Filling, fill, wait_for_jobs
from memories.management.bench.measure import (
    Bench,
    Numbers,
    measure_floor,
    measure_list,
    measure_memory,
    measure_write,
)
from memories.management.bench.moving import measure_migrations
from memories.management.bench.searching import measure_many, measure_search
from memories.management.bench.store import sizes
from memoryhub.lib.clock import now
from memoryhub.local.datadir import check

MEASURES: dict[str, Callable[[Bench], Numbers]] = {
    "write": measure_write,
    "search": measure_search,
    "list": measure_list,
    "mcp": measure_mcp,
    "migrations": measure_migrations,
    "cleanup": measure_cleanup,
}
#: Numbers of memories written to a kept store start here, so that no run repeats another's.
_BEYOND = 1_000


@dataclass(frozen=True)
class Run:
    """What was asked for on the command line."""

    what: Sequence[str]
    layout: Layout
    requests: int
    console: Console
    given: Hub | None = None
    keep: Path | None = None


def run_bench(run: Run) -> Numbers:
    """Fill and measure. Raises BenchFailed, and HubError for a folder that cannot be used."""
    if run.given is not None:
        return _filled_over_http(run, run.given)
    if run.keep is not None:
        check(run.keep)
        return _filled_directly(run, run.keep)
    if run.layout.vaults > 1:
        with throwaway_folder() as data:
            return _filled_directly(run, data)
    with throwaway_hub() as hub:
        return _filled_over_http(run, hub)


def _filled_over_http(run: Run, hub: Hub) -> Numbers:
    # In a hub that is kept, numbers must not repeat those of an earlier run: their texts would be duplicates.
    bench = Bench(hub, run.layout, run.requests, _unused(run.layout, kept=hub.process is None), [hub.key])
    with _progress(run) as (progress, task), bench.client() as client:
        filling = fill(client, bench.author, run.layout.memories, lambda more: progress.advance(task, more))
        progress.update(task, description="waiting for jobs")
        waited = wait_for_jobs(client)
    made = _rates(filling) | {"fill.jobs_seconds": waited} if filling.written else {}
    return made | _measured(run, bench)


def _filled_directly(run: Run, data: Path) -> Numbers:
    kept = read_note(data, run.layout)
    if kept is None:
        with hub_at(data, "--no-worker"), _progress(run) as (progress, task):
            filling = fill_directly(data, run.layout, lambda more: progress.advance(task, more))
            progress.update(task, description="building indexes")
            finished = finish_directly(data, run.layout)
        kept = Kept(run.layout, finished.keys, _rates(filling) | finished.seconds)
        write_note(data, kept)
    if set(run.what) == {"fill"}:
        return kept.made
    with hub_at(data) as hub:
        bench = Bench(hub, run.layout, run.requests, _unused(run.layout, kept=True), kept.keys)
        with bench.client() as client:
            wait_for_jobs(client)
        return kept.made | _measured(run, bench)


def _measured(run: Run, bench: Bench) -> Numbers:
    numbers = measure_floor(bench)
    measures = MEASURES | ({"search": _measured_many} if bench.layout.vaults > 1 else {})
    for what in dict.fromkeys(run.what):
        if what in measures:
            run.console.print(f"measuring {what} …")
            numbers |= measures[what](bench)
    if bench.hub.database_url:
        numbers |= sizes(bench.hub.database_url)
    return numbers | measure_memory(bench)


def _measured_many(bench: Bench) -> Numbers:
    """Beside a hub of its own whose only vault is as large as one of the many."""
    layout = Layout(bench.layout.memories, seed=bench.layout.seed)
    with throwaway_hub() as hub:
        alone = Bench(hub, layout, bench.requests, layout.memories, [hub.key])
        with alone.client() as client:
            fill(client, alone.author, layout.memories, lambda more: None)
            wait_for_jobs(client)
        return measure_many(bench, alone)


def _rates(filling: Filling) -> Numbers:
    if not filling.written:
        return {}
    return {
        "fill.per_second": filling.written / filling.seconds,
        "fill.created_share": filling.created / filling.written,
    }


def _unused(layout: Layout, *, kept: bool) -> int:
    return layout.total + (int(now().timestamp()) * _BEYOND if kept else 0)


class _Speed(ProgressColumn):
    """How many a second, over the last minute."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


@contextmanager
def _progress(run: Run) -> Iterator[tuple[Progress, TaskID]]:
    """What is done, what is left, how fast it goes and how long it will take."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Speed(), TimeRemainingColumn())
    with Progress(*columns, console=run.console, speed_estimate_period=60) as progress:
        yield progress, progress.add_task("filling", total=run.layout.total)
