"""``manage.py export_notes``: the folder of the seed (TIE-03, CON-19)."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from banks.access import Access
from banks.models import AuditEntry
from tests.factories import dreamt_of, remember

pytestmark = pytest.mark.django_db


def test_a_folder_of_markdown(access: Access, tmp_path: Path):
    """Notes, document and diary of the default namespace at the top, of others in folders of their own."""
    first = remember(access, "The user builds bridges.", confidence=5)
    finished = dreamt_of(access, first).finished_at
    assert finished is not None
    day = finished.date()
    dreamt_of(access, remember(access, "The garden is wet.", confidence=5, namespace=["../home", "u 1"]))
    folder, said = tmp_path / "notes", io.StringIO()
    call_command("export_notes", str(folder), "--vault", access.vault.name, stdout=said)
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.md"))
    assert found == sorted(
        f"{home}{path}"
        for home in ("", "namespaces/_home__u_1/")
        for path in (f"memory/{day}.md", "MEMORY.md", f"memory/dreams/{day}.md")
    )
    assert "- The user builds bridges." in (folder / "MEMORY.md").read_text()
    assert "garden" not in (folder / "MEMORY.md").read_text()
    assert "6 files" in said.getvalue()
    assert AuditEntry.objects.filter(vault=access.vault, action="export_notes").count() == 1


def test_it_writes_into_nothing_that_is_there(access: Access, tmp_path: Path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CommandError, match="not an empty folder"):
        call_command("export_notes", str(tmp_path), "--vault", access.vault.name)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
