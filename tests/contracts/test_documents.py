"""What the README tells a newcomer to type is what the build runs, and nothing in the tree names another machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

from django.apps import apps

from memoryhub.env import Environment
from memoryhub.lib.sealing import SealedField
from tests.contracts import laws
from tests.contracts.tree import ROOT, named, offences, tracked_files

TEST_COMMAND = "uv run pytest"
START_COMMAND = "pip install uv && uv run manage.py up --demo"


def code_lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def test_the_readme_and_the_build_run_the_same_tests():
    readme = code_lines(ROOT / "README.md")
    assert TEST_COMMAND in [line.split("  #")[0].strip() for line in readme]
    assert START_COMMAND in [line.split("  #")[0].strip() for line in readme]
    assert code_lines(ROOT / ".ci" / "run")[-1] == TEST_COMMAND, "the last line a build prints is pytest's own summary"


def test_the_build_script_is_a_program():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\nset -euo pipefail\n")
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0


def test_the_page_of_the_api_names_every_operation():
    """In one line its method and every word of its path; `docs/openapi.json` is held against the code elsewhere."""
    lines = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").splitlines()
    paths = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))["paths"]
    unnamed = [
        f"{method.upper()} {path}"
        for path, operations in paths.items()
        for method in operations
        if not any(method.upper() in line and all(f"/{word}" in line for word in _words(path)) for line in lines)
    ]
    assert unnamed == [], "name them in the table of routes of docs/api.md"


def _words(path: str) -> list[str]:
    return [part for part in path.removeprefix("/api/v1/").split("/") if not part.startswith("{")]


def test_every_dependency_says_why_it_is_here():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    wanted = [*project["project"]["dependencies"], *groups["hub"], *groups["dev"]]
    names = {laws.requirement_name(each) for each in wanted}
    described = laws.described_names((ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8"))
    assert described == names


def test_every_sealed_column_is_described():
    """ENC-02: the page that says what is sealed says it of exactly these columns."""
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    described = {(row[0], name) for row in laws.table_rows(page) for name in re.findall(r"`(\w+)`", row[1])}
    models = apps.get_models()
    sealed = {(str(m._meta.verbose_name), f.name) for m in models for f in m._meta.fields if isinstance(f, SealedField)}
    assert sealed and sealed <= described
    assert {name for name in described if name[0] in {model for model, _ in sealed}} == sealed


def test_the_architecture_page_points_at_what_exists():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [path for path in laws.paths_named(page) if not (ROOT / path).exists()] == []


def test_links_between_documents_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]

    def law(page: Path) -> list[str]:
        links = laws.local_links(page.read_text(encoding="utf-8"))
        return [f"{link} is not there" for link in links if not (page.parent / link).exists()]

    assert offences(law, pages) == []


def test_nothing_names_the_machine_it_was_written_on():
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if path.name != "test_documents.py":
            found += [f"{named(path)}: {leak}" for leak in laws.leaks(text)]
    assert not found


def test_the_lock_file_names_only_the_public_index():
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    registries = {package["source"].get("registry") for package in lock["package"]} - {None}
    assert registries == {"https://pypi.org/simple"}


def test_the_checkers_see_a_leak_and_an_undescribed_dependency():
    for bad in (
        "open('/home/alice/hub/keys.json')",
        "cd /workspace/hub",
        "http://192.168.1.4:3141/simple",
        "https://pypi.example.corp/simple",
        "uv sync --index-url x",
        "as asked for in issue 12",
        "see DESIGN.md",
    ):
        assert laws.leaks(bad), bad
    for good in (
        "/var/lib/memoryhub",
        "https://pypi.org",
        "memories/models/work/x.py",
        "/api/v1/memories",
        "reindex = 1",
    ):
        assert not laws.leaks(good), good
    assert laws.requirement_name("psycopg[binary,pool]>=3.3") == "psycopg"
    assert laws.described_names("| `celery` | why |\n| `ruff` | why |\ntext `not-one`") == {"celery", "ruff"}


def test_every_environment_variable_is_described():
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    fields = Environment.model_fields.items()
    names = [str(field.validation_alias or f"MEMORYHUB_{name.upper()}") for name, field in fields]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_the_checkers_see_a_path_and_a_link():
    text = "`memories/rules/x.py: f` and [a](docs/b.md#c) but [d](https://e.org) <img src='images/f.png'>"
    assert laws.paths_named(text) == ["memories/rules/x.py"]
    assert laws.local_links(text) == ["docs/b.md", "images/f.png"]
    assert laws.table_rows("| a | b |\n|---|---|\n| c | `d`, `e` |\nno row") == [["a", "b"], ["c", "`d`, `e`"]]
