"""Writes what the bench measured into docs/performance.md: `uv run python -m docs.numbers 10k.json 100k.json`.

Only the part between the two markers is replaced, so no number on that page was typed by hand.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from memories.management.bench.report import TARGETS

PAGE = Path(__file__).with_name("performance.md")
START, END = "<!-- measured -->\n", "<!-- /measured -->\n"


def table(reports: list[dict[str, Any]]) -> str:
    """One row a number, one column a size of the vault, and what is aimed at."""
    sizes = [f"{report['memories']:,} memories" for report in reports]
    names = [name for name in reports[-1]["numbers"] if not name.endswith(".count")]
    lines = [f"| | {' | '.join(sizes)} | aim at 100,000 |", f"|---|{'---:|' * len(sizes)}---:|"]
    for name in names:
        values = [_shown(report["numbers"].get(name)) for report in reports]
        lines.append(f"| {name} | {' | '.join(values)} | {TARGETS.get(name, '')} |")
    machine = reports[-1]["machine"]
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}"
    return f"{where}, Python {machine['python']}, {reports[-1]['taken_at'][:10]}.\n\n" + "\n".join(lines) + "\n"


def _shown(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "reports", nargs="+", type=Path, help="files written by `manage.py bench --json`, small to large"
    )
    reports = [json.loads(path.read_text()) for path in parser.parse_args().reports]
    before, _, rest = PAGE.read_text().partition(START)
    PAGE.write_text(before + START + table(reports) + END + rest.partition(END)[2])
    print(f"{PAGE} updated")


if __name__ == "__main__":
    main()
