"""``bench recall``: what the search finds of what it should, on conversations with known evidence, beside baselines."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from memories.management.bench.client import BenchFailed
from memories.management.bench.evidence import ADVERSARIAL, Examination, write_examination
from memories.management.bench.fitting import fit, samples_of
from memories.management.bench.hub import NOT_ITS_OWN, throwaway_hub
from memories.management.bench.quality import METRICS, Scores, as_row, score_ranking
from memories.management.bench.rankers import RANKERS
from memoryhub.env import BASE_DIR
from memoryhub.lib.sealing import gate


def measure_elsewhere(what: str, words: Sequence[str] = ()) -> None:
    """The same command in a throwaway hub of its own. Raises BenchFailed when it fails there."""
    with throwaway_hub("--no-worker") as hub:
        environment = {name: value for name, value in os.environ.items() if name not in NOT_ITS_OWN}
        done = subprocess.run(
            [sys.executable, str(BASE_DIR / "manage.py"), "bench", what, "--here", *words],
            env=environment | {"MEMORYHUB_DATA": str(hub.data)},
            check=False,
        )
    if done.returncode:
        raise BenchFailed("That could not be measured; see above.")


def measure_recall(files: Sequence[Path], *, together: bool, fitting: bool, console: Console) -> str:
    """Write every file's turns, ask its questions, and say how well each ranker did."""
    with gate.session():
        examinations = [_written(path, together, console) for path in files]
        if fitting:
            return fit([samples_of(each) for each in examinations])
        return "\n".join(_report(each, console) for each in examinations)


def _written(path: Path, together: bool, console: Console) -> Examination:
    console.print(f"writing {path.name} …")
    return write_examination(path, together=together, advance=lambda done: None)


def _report(examination: Examination, console: Console) -> str:
    tables = []
    for name, ranker in RANKERS.items():
        console.print(f"{examination.name}: asking {name} …")
        started = time.perf_counter()
        asked = [
            (question.category, score_ranking(ranker(examination, question), question.evidence))
            for question in examination.questions
        ]
        milliseconds = (time.perf_counter() - started) * 1_000 / len(asked)
        tables.append(_as_text(f"{examination.name}: {name} ({milliseconds:.1f} ms a question)", asked))
    return "\n".join(tables)


def _as_text(title: str, asked: Sequence[tuple[str, Scores]]) -> str:
    table = Table(title=title, title_justify="left")
    for column in ("questions", "n", *METRICS):
        table.add_column(column, justify="left" if column == "questions" else "right")
    groups: dict[str, list[Scores]] = {"all but adversarial": [row for name, row in asked if name != ADVERSARIAL]}
    for category, row in asked:
        groups.setdefault(category, []).append(row)
    for name, rows in groups.items():
        table.add_row(name, str(len(rows)), *as_row(rows))
    screen = Console(width=140, force_terminal=False, color_system=None)
    with screen.capture() as printed:
        screen.print(table)
    return printed.get()
