"""The source tree as the contracts see it: which files there are, and each one parsed."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("memoryhub", "memories", "banks")


def python_files(*folders: str) -> list[Path]:
    """Every hand-written Python file below the folders; what Django generates (migrations) obeys no law of size."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return sorted(path for path in found if "migrations" not in path.parts)


def source_files() -> list[Path]:
    """The product's own modules: the three packages and manage.py."""
    return [*python_files(*PACKAGES), ROOT / "manage.py"]


def tracked_files() -> list[Path]:
    """Every file git tracks or would track, so that a law also holds for what is not committed yet."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


def named(path: Path) -> str:
    """The path as a person writes it: from the top of the repository."""
    return path.relative_to(ROOT).as_posix()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def offences(law: Callable[[Path], list[str]], paths: Iterable[Path]) -> list[str]:
    """Every breach of a law among the files, as `path: what is wrong`; an empty list is what a contract asserts."""
    return [f"{named(path)}: {breach}" for path in paths for breach in law(path)]
