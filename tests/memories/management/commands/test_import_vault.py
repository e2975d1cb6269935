"""A vault into a file and back, at a terminal."""

from __future__ import annotations

import json
import stat
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from banks.access import Access
from memories.management.wholefile import FileUnwritable
from memories.models import Memory
from memories.rules.exchange import FileRefused
from tests.factories import remember

pytestmark = pytest.mark.django_db


def test_out_and_in_again(access: Access, other_access: Access, tmp_path: Path):
    """The file is whole and private; a dry run changes nothing, a second import neither."""
    remember(access, "Mara works in Linz.")
    path, said = tmp_path / "home.jsonl", StringIO()
    call_command("export_vault", access.vault.name, str(path), stdout=said)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "in plain text" in said.getvalue()
    with pytest.raises(FileUnwritable, match="already there"):
        call_command("export_vault", access.vault.name, str(path))
    rows = Memory.objects.filter(vault_id=other_access.vault_id)
    for words, told, count in ((["--dry-run"], "1 new", 0), ([], "1 new", 1), ([], "1 same", 1)):
        said = StringIO()
        call_command("import_vault", str(path), "--vault", other_access.vault.name, *words, stdout=said)
        assert f"memory: {told}" in said.getvalue()
        assert rows.count() == count


def test_a_refused_line_is_named_and_ends_with_one(access: Access, other_access: Access, tmp_path: Path):
    path = tmp_path / "cut.jsonl"
    remember(access, "Mara works in Linz.")
    call_command("export_vault", access.vault.name, str(path), stdout=StringIO())
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    with pytest.raises(FileRefused, match="ends too early"):
        call_command("import_vault", str(path), "--vault", other_access.vault.name)
    assert json.loads(whole.splitlines()[0])["counts"]["memory"] == 1
    with pytest.raises(FileRefused, match="cannot be read"):
        call_command("import_vault", str(tmp_path / "none"), "--vault", other_access.vault.name)
