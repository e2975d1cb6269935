"""How far a command is, for whoever watches the terminal; nothing is shown where nobody does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def shown_steps(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """A bar; call what it gives with the present step, how many are done and how many there are."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        yield lambda step, done, total: bar.update(
            task, description=f"{title}: {step}", completed=float(done), total=float(total)
        )
