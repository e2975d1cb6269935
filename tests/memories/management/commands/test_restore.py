"""R17 at a terminal: a new machine, without the keys, with wrong ones, with the right ones."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from io import StringIO
from pathlib import Path

import pytest

from memories.management.backup.dumping import back_up_store
from memories.management.backup.restoring import StoreNotEmpty
from memories.management.commands.restore import Command
from memoryhub import env
from memoryhub.env import BASE_DIR
from memoryhub.local.datadir import locate
from memoryhub.local.store import discard
from tests import factories


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Path]:
    """A data folder nobody has used."""
    folder = tmp_path / "hub"
    yield folder
    discard(locate(folder))


def manage(folder: Path, *words: str) -> tuple[int, str]:
    """Exit code and everything said, on a machine whose keys are in the folder."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORYHUB_", "DATABASE_URL"))}
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        capture_output=True,
        text=True,
        cwd=BASE_DIR,
        env=clean | {"MEMORYHUB_DATA": str(folder)},
        timeout=600,
        input="",
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_new_machine_needs_the_keys_first(machine: Path, tmp_path: Path):
    """Wrong and missing keys are refused before anything is made; without them nothing starts; with them all is."""
    factories.remember(factories.operator(factories.make_vault()), "Mara keeps the spare key under the blue pot.")
    back_up_store(tmp_path / "b", lambda step, done, total: None)
    secrets = json.loads(env.keys_file(env.environment().data).read_text())

    code, said = manage(machine, "restore", str(tmp_path / "b"))
    assert (code, machine.exists()) == (1, False)
    assert "Missing: MEMORYHUB_KEYS" in said

    machine.mkdir(mode=0o700)
    other = {**secrets, "keys": {"1": base64.b64encode(b"x" * 32).decode()}}
    (machine / "keys.json").write_text(json.dumps(other))
    code, said = manage(machine, "restore", str(tmp_path / "b"))
    assert code == 1
    assert "Encryption key 1 is not the one this backup was made with; nothing was changed." in said
    assert [each.name for each in machine.iterdir()] == ["keys.json"]

    (machine / "keys.json").unlink()
    code, said = manage(machine, "restore", str(tmp_path / "b"), "--without-keys")
    assert code == 0, said
    assert "the hub does not start, until encryption key 1 is back" in said
    code, said = manage(machine, "up", "--port", "8179")
    assert code == 1
    assert "sealed with encryption key 1. Missing: MEMORYHUB_KEYS" in said
    assert not (machine / "keys.json").exists()

    (machine / "keys.json").write_text(json.dumps(secrets))
    code, said = manage(machine, "doctor", "--json")
    found = {each["part"]: each["ok"] for each in json.loads(said)}
    assert {part for part, ok in found.items() if not ok} <= {"broker", "worker"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("vault")
@pytest.mark.parametrize(("typed", "agreed"), [("replace\n", True), ("yes\n", False), ("", False)])
def test_a_store_that_holds_something_is_replaced_only_by_a_typed_word(
    typed: str, agreed: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("sys.stdin", StringIO(typed))
    command = Command(stdout=StringIO())
    with pytest.raises(StoreNotEmpty, match="add --replace"):
        command.agree(replace=False)
    with nullcontext() if agreed else pytest.raises(StoreNotEmpty, match="Nothing was changed"):
        command.agree(replace=True)
