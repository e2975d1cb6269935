"""What another program kept, imported at a terminal."""

from __future__ import annotations

import json
import shlex
from contextvars import Context
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from banks.access import Access
from memories.models import Memory
from memories.rules.exchange import FileRefused
from memories.rules.importers.kinds import ImportKind
from memories.rules.settings import Level
from memories.services.settings import write_setting
from memoryhub.lib.errors import NotFound
from tests.contracts.tree import ROOT
from tests.factories import make_key, remember
from tests.memories.services.test_sources import sqlite_file, zipped

pytestmark = pytest.mark.django_db


def run(*words: str) -> str:
    """The command without the session a test has: it opens vaults by itself."""
    said = StringIO()
    Context().run(call_command, "import", *words, stdout=said, stderr=said)
    return said.getvalue()


def write(path: Path, document: Any) -> str:
    path.write_text(json.dumps(document))
    return str(path)


def test_dry_run_then_import_then_again(access: Access, other_access: Access, tmp_path: Path):
    path = write(tmp_path / "m.json", {"results": [{"id": "1", "memory": "Mara likes tea", "metadata": {"a": 1}}]})
    vault = ["--vault", access.vault.name, "--bank", "Work"]
    told = run("mem0", path, *vault, "--dry-run")
    assert "memory: 1 new" in told and "metadata → extra: 1" in told and "Nothing was changed" in told
    assert not Memory.objects.exists()
    assert "can be undone as one" in run("auto", path, *vault)
    again = run("mem0", path, *vault)
    assert "memory: 1 same" in again and "nothing to undo" in again and "can be undone as one" not in again
    assert Memory.objects.get().bank.name == "Work"
    with pytest.raises(NotFound, match="--vault"):
        run("mem0", path)


def test_records_not_taken_are_named_and_end_with_one(access: Access, tmp_path: Path):
    path, said = write(tmp_path / "m.json", [{"id": "1", "memory": "Fine"}, {"id": "2"}]), StringIO()
    with pytest.raises(SystemExit) as ended:
        Context().run(call_command, "import", "mem0", path, stdout=StringIO(), stderr=said)
    assert ended.value.code == 1
    assert "record 2: has no text" in said.getvalue()


def test_a_folder_of_notes(access: Access, tmp_path: Path):
    (tmp_path / "MEMORY.md").write_text("- likes tea\n- has two dogs\n")
    assert "memory: 2 new" in run("markdown", str(tmp_path), "--namespace", "a/b")
    assert set(map(tuple, Memory.objects.values_list("namespace", flat=True))) == {("a", "b")}


def test_what_is_not_there_or_not_known(access: Access, tmp_path: Path):
    with pytest.raises(FileRefused, match="no such file"):
        run("mem0", str(tmp_path / "none"))
    with pytest.raises(CommandError, match="invalid choice"):
        run("zep", str(tmp_path))


def fixture(tmp_path: Path, name: str) -> Path:
    """A small file of whoever keeps one under that name."""
    path = tmp_path / Path(name).name
    facts = {"id": "chat", "facts": [{"text": "Mara moved to Linz.", "fact_type": "world"}]}
    row = {"id": "m1", "memory": "Mara likes tea", "user_id": "mara"}
    match path.name:
        case "mem0.json":
            write(path, {"results": [row]})
        case "openmemory.zip":
            path.write_bytes(zipped({"memories.json": {"memories": [row]}}))
        case "transfer.zip":
            path.write_bytes(zipped({"manifest.json": {"schema_version": 1}, "documents/000000.json": facts}))
        case "sqlite_vec.db":
            sqlite_file(path)
        case "store.json":
            write(path, [{"namespace": ["a"], "key": "k", "value": {"content": "Mara likes tea"}}])
        case "agent.af":
            write(path, {"blocks": [{"id": "b", "label": "human", "value": "Mara bakes."}]})
        case _:
            path.mkdir()
            (path / "MEMORY.md").write_text("- likes tea\n")
    return path


PAGE = (ROOT / "docs" / "importing.md").read_text()
DOCUMENTED = [
    shlex.split(line, comments=True)[4:]
    for line in PAGE.splitlines()
    if line.startswith("uv run manage.py import ") and " KIND " not in line
]


@pytest.mark.parametrize("words", DOCUMENTED, ids=" ".join)
def test_what_the_documentation_gives_works(access: Access, tmp_path: Path, words: list[str]):
    kind, file, *options = words
    told = run(kind, str(fixture(tmp_path, file)), *options)
    assert "memory: " in told and " new" in told and "can be undone as one" in told


def test_every_kind_is_documented():
    assert {kind for kind, *_ in DOCUMENTED} == {*ImportKind} - {ImportKind.MEMORYHUB}


def test_mem0s_list_is_fetched_as_documented(access: Access, other_access: Access, tmp_path: Path):
    """The request of the page, at the door that answers as mem0's server does; what it gives is imported elsewhere."""
    write_setting(access, Level.VAULT, "mem0_api", True)
    _, secret = make_key(access)
    for number in range(25):
        remember(access, content=f"Mara counts {number} sheep.", user_id="mara")
    _, flag, header, address = shlex.split(PAGE[PAGE.index("curl -H") :].split(" > ", 1)[0])
    name, value = header.split(": ")
    assert (flag, value) == ("-H", "$MEM0_KEY")
    asked = "/compat/mem0" + address.removeprefix("http://localhost:8888")
    answer = Client(headers={name: secret}).get(asked)
    path = tmp_path / "mem0.json"
    path.write_bytes(answer.content)
    assert "memory: 25 new" in run("mem0", str(path), "--vault", other_access.vault.name)


@dataclass(frozen=True)
class Item:
    """An item of a store, as far as the page uses it."""

    namespace: tuple[str, ...]
    key: str

    def dict(self) -> dict[str, Any]:
        value = {"kind": "Memory", "content": {"content": f"{self.key} likes tea"}}
        return {"namespace": list(self.namespace), "key": self.key, "value": value}


class Store:
    """The two methods of LangGraph's BaseStore the page calls."""

    items = (Item(("a",), "mara"), Item(("a", "b"), "tom"))

    def list_namespaces(self, *, limit: int = 100) -> list[tuple[str, ...]]:
        return [item.namespace for item in self.items][:limit]

    def search(self, namespace_prefix: tuple[str, ...], /, *, limit: int = 10) -> list[Item]:
        depth = len(namespace_prefix)
        return [item for item in self.items if item.namespace[:depth] == namespace_prefix][:limit]


def test_a_store_is_written_as_documented(access: Access, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    snippet = PAGE.split("```python\n", 1)[1].split("```", 1)[0]
    exec(snippet, {"store": Store()})
    assert "memory: 2 new" in run("langmem", "store.json")
    assert {memory.content: memory.namespace for memory in Memory.objects.all()} == {
        "mara likes tea": ["a"],
        "tom likes tea": ["a", "b"],
    }
