"""Writes what the bench measured into docs/performance.md: `uv run python -m docs.numbers 10k.json 100k.json 1m.json`.

Only the part between the two markers is replaced, so no number on that page was typed by hand.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from memories.management.bench.layout import Layout
from memories.management.bench.report import TARGETS, TARGETS_AT_A_MILLION

PAGE = Path(__file__).with_name("performance.md")
GROUPS = ("floor", "fill", "size", "write", "batch", "search", "alone", "neighbours", "list", "memory")
START, END = "<!-- measured -->\n", "<!-- /measured -->\n"


def table(reports: list[dict[str, Any]]) -> str:
    """One row a number, one column a size of the vault, and what is aimed at."""
    sizes = [str(Layout(report["memories"], report["vaults"])) for report in reports]
    names = dict.fromkeys(name for report in reports for name in report["numbers"] if not name.endswith(".count"))
    heads = [*sizes, "aim at 100,000", "aim at 1,000,000"]
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
    for name in sorted(names, key=_place):
        values = [_shown(report["numbers"].get(name)) for report in reports]
        aims = [str(aims.get(name, "")) for aims in (TARGETS, TARGETS_AT_A_MILLION)]
        lines.append(f"| {name} | {' | '.join([*values, *aims])} |")
    machine = reports[-1]["machine"]
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}"
    return f"{where}, Python {machine['python']}, {reports[-1]['taken_at'][:10]}.\n\n" + "\n".join(lines) + "\n"


def _place(name: str) -> int:
    """What belongs together stands together, whichever report brought it; the rest stays in its order."""
    group = name.partition(".")[0]
    return GROUPS.index(group) if group in GROUPS else len(GROUPS)


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
