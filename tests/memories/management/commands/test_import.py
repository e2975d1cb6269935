"""What another program kept, imported at a terminal."""

from __future__ import annotations

import json
from contextvars import Context
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from banks.access import Access
from memories.models import Memory
from memories.rules.exchange import FileRefused
from memoryhub.lib.errors import NotFound

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
    assert "memory: 1 same" in run("mem0", path, *vault)
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
