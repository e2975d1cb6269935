"""Keys are replaced from a terminal; what the environment owns is never edited."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command

from banks.access import Access, keyring
from banks.models import KeyCheck, VaultKey
from memories.models import Memory, MigrationRecord
from memoryhub.env import environment, keys_file, reread_secrets
from memoryhub.lib.sealing import gate
from tests.factories import make_vault, operator, remember


def run(*words: str) -> tuple[str, int]:
    """What the command says, and its exit code."""
    told = io.StringIO()
    try:
        call_command(*words, stdout=told)
    except SystemExit as error:
        return told.getvalue(), int(str(error.code))
    return told.getvalue(), 0


@pytest.fixture
def own_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder with the same secrets, which the test may change."""
    path = tmp_path / "keys.json"
    path.write_text(keys_file(environment().data).read_text())
    monkeypatch.setenv("MEMORYHUB_DATA", str(tmp_path))
    forget()
    yield path
    monkeypatch.undo()
    forget()


def forget() -> None:
    environment.cache_clear()
    reread_secrets()
    keyring.master_keys.cache_clear()
    keyring._unwrapped.cache_clear()


def test_the_master_key_of_the_embedded_default(access: Access, own_keys: Path):
    """CON-01: a new key wraps, the old one stays in the file for older backups; running processes learn of it."""
    memory = remember(access, "sealed before")
    told, code = run("rotate_keys", "--master")
    assert (code, set(json.loads(own_keys.read_text())["keys"])) == (0, {"1", "2"})
    assert "Master key 2 wraps every data key; 1 were wrapped anew." in told
    assert "No longer needed here: 1." in told
    assert set(VaultKey.objects.values_list("master_key_id", flat=True)) == {2}
    assert set(KeyCheck.objects.values_list("id", flat=True)) == {1, 2}
    record = MigrationRecord.objects.get(app="rotate_master_key")
    assert (record.name, record.state, record.vault) == ("master key 2", "done", None)
    with gate.session():
        operator(access.vault)
        assert Memory.objects.get(pk=memory.pk).content == "sealed before"


def test_a_process_from_before_reads_the_file_again(access: Access, own_keys: Path):
    """CON-01: it knows only the first master key until it meets the second."""
    stored = json.loads(own_keys.read_text())
    keyring.master_keys()
    added = base64.b64encode(bytes(range(32, 64))).decode()
    own_keys.write_text(json.dumps(stored | {"active": 2, "keys": stored["keys"] | {"2": added}}))
    keys = keyring.reread_master_keys()
    row = VaultKey.objects.get(vault=access.vault)
    wrapped = keys.wrap(keys.unwrap(bytes(row.wrapped), access.vault_id.bytes), access.vault_id.bytes)
    VaultKey.objects.filter(pk=row.pk).update(wrapped=wrapped, master_key_id=2)
    own_keys.write_text(json.dumps(stored))
    forget()
    keyring.master_keys()
    own_keys.write_text(json.dumps(stored | {"active": 2, "keys": stored["keys"] | {"2": added}}))
    assert operator(access.vault).keys.index == access.keys.index


def test_keys_of_the_environment_are_only_explained(access: Access, own_keys: Path, monkeypatch: pytest.MonkeyPatch):
    """CFG-01: what to add where, exit code 1; once it is there, the same command wraps with it."""
    first = json.loads(own_keys.read_text())["keys"]["1"]
    monkeypatch.setenv("MEMORYHUB_KEYS", f"1:{first}")
    forget()
    told, code = run("rotate_keys", "--master")
    assert code == 1
    assert "add “,2:KEY” to the variable MEMORYHUB_KEYS" in told
    second = base64.b64encode(bytes(range(64, 96))).decode()
    monkeypatch.setenv("MEMORYHUB_KEYS", f"1:{first},2:{second}")
    forget()
    told, code = run("rotate_keys", "--master")
    assert (code, "Master key 2 wraps" in told) == (0, True)


def test_reembed_and_reindex_without_anything_to_do(access: Access):
    """Every vault is where it is wanted: said, and no failure; an unknown vault is."""
    remember(access)
    told, code = run("reembed")
    assert (code, "Name the space to move to" in told) == (0, True)
    assert run("reembed", "--to", "wordllama/none")[0].startswith("Home: Name the space")


@pytest.mark.django_db(transaction=True)
def test_all_three_in_the_foreground():
    """MIG-12: done when the command is, with its rate; in the background a worker does it."""
    vault = make_vault("Terminal")
    with gate.session():
        remember(operator(vault), "moved about")
    told, code = run("rotate_keys", "--data", "--vault", "terminal")
    assert (code, told.startswith("Terminal: reseal memories (data key 2): 1 rows in")) == (0, True)
    told, code = run("reembed", "--vault", "Terminal", "--to", "wordllama/l2_supercat_64")
    assert (code, told.startswith("Terminal: reembed memories (wordllama/l2_supercat_64): 1 rows in")) == (0, True)
    told, code = run("reindex", "--vault", str(vault.pk))
    assert (code, told.startswith("Terminal: reindex memories (index version 1): 1 rows in")) == (0, True)
    told, code = run("reindex", "--background")
    assert "is with the workers" in told
