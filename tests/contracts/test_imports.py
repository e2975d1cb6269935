"""Imports point downward only. The contract is in pyproject.toml; here it is run, and seen to fail when broken."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.contracts import laws
from tests.contracts.tree import PACKAGES, ROOT, offences, parsed, python_files, source_files

LINTER = Path(sys.executable).with_name("lint-imports")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(LINTER), "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def copy_of_the_house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three packages and their contract, in a folder where they may be broken."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_the_rooms_keep_their_direction():
    outcome = lint(ROOT)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


VIOLATIONS = [
    ("memories/services/writing.py", "import memories.tasks", "memories: doors"),
    ("memories/web/__init__.py", "import memories.api", "memories: doors"),
    ("memories/search/recall.py", "import memories.services", "memories: doors"),
    ("memories/utils.py", "", "memories: doors"),
    ("banks/access/scopes.py", "import memories.models", "The house"),
    ("banks/models/__init__.py", "import banks.access", "banks: doors"),
    ("memoryhub/lib/clock.py", "import banks.models", "The house"),
    ("memories/rules/vocabulary.py", "import django.db", "rules are plain"),
    ("memories/services/writing.py", "import cryptography.hazmat", "Only lib.crypto"),
    ("memories/services/writing.py", "import celery", "Celery is known"),
    ("memories/services/writing.py", "import ninja", "django-ninja is known"),
    ("memories/services/writing.py", "import httpx2", "Only providers"),
    ("memories/services/writing.py", "def f():\n    import memories.web", "memories: doors"),
    ("memories/services/writing.py", "import memoryhub.settings", "Settings are read"),
    ("memoryhub/client/hub.py", "import memories.services", "The client shares"),
    ("memoryhub/client/hub.py", "import django.conf", "The client shares"),
    ("memories/services/writing.py", "import memoryhub.client", "The house"),
]


@pytest.mark.parametrize(("name", "line", "contract"), VIOLATIONS, ids=[f"{n}: {v}" for n, v, _ in VIOLATIONS])
def test_the_linter_sees_a_broken_wall(copy_of_the_house: Path, name: str, line: str, contract: str):
    path = copy_of_the_house / name
    before = path.read_text(encoding="utf-8") if path.exists() else None
    path.write_text(f"{before or ''}\n{line}\n", encoding="utf-8")
    try:
        outcome = lint(copy_of_the_house)
    finally:
        if before is None:
            path.unlink()
        else:
            path.write_text(before, encoding="utf-8")
    assert outcome.returncode == 1
    assert any(contract in row and "BROKEN" in row for row in outcome.stdout.splitlines()), outcome.stdout


def test_no_import_hides_in_a_function():
    def law(path: Path) -> list[str]:
        return laws.hidden_imports(parsed(path), django_app=path.name == "apps.py")

    # The plugin says where the test database is, which must be known before any module of ours is imported.
    files = {*source_files(), *python_files("tests", "docs")} - {ROOT / "tests" / "plugin.py"}
    assert offences(law, sorted(files)) == []


def test_what_the_hub_imports_is_installed_without_the_development_tools():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    tools = {laws.requirement_name(each) for each in project["dependency-groups"]["dev"]}
    distributions = packages_distributions()

    def law(path: Path) -> list[str]:
        return sorted(name for name in laws.imported_roots(parsed(path)) if tools & set(distributions.get(name, [])))

    assert offences(law, source_files()) == []


def test_no_error_is_swallowed():
    assert offences(lambda path: laws.swallowed_errors(parsed(path)), source_files()) == []


def test_the_checkers_see_a_hidden_import_and_a_swallowed_error():
    hidden = ast.parse("def f():\n    from memories.models import Memory\n    import json")
    assert laws.hidden_imports(hidden) == ["f imports memories.models"]
    ready = ast.parse("class A:\n    def ready(self):\n        from memories import signals")
    assert laws.hidden_imports(ready)
    assert not laws.hidden_imports(ready, django_app=True)

    assert laws.imported_roots(ast.parse("import a.b\nfrom c.d import e\nimport json")) == {"a", "c", "json"}

    assert laws.swallowed_errors(ast.parse("try: f()\nexcept Exception: pass"))
    assert laws.swallowed_errors(ast.parse("try: f()\nexcept: pass"))
    assert not laws.swallowed_errors(ast.parse("try: f()\nexcept Exception:\n    g()\n    raise"))
    assert not laws.swallowed_errors(ast.parse("try: f()\nexcept ValueError: pass"))
