"""The command a person types."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from banks.models import Vault
from memories.models import Memory
from memories.rules.conversations import ConversationsUnreadable
from memoryhub.lib.errors import NotFound

TURNS = [
    {"id": "1", "session": 1, "when": "2026-03-02T18:30:00", "speaker": "Noor", "text": "The kiln is fixed!"},
    {"id": "2", "session": 1, "when": "2026-03-02T18:31:00", "speaker": "Assistant", "text": "Shall I book it?"},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"conversations": [{"id": "c", "memories": TURNS}]}))
    return path


def run(*words: object) -> str:
    told = io.StringIO()
    call_command("import_conversations", *map(str, words), stdout=told, stderr=told)
    return told.getvalue()


@pytest.mark.parametrize("by", ["name", "pk"])
def test_it_says_what_it_did_and_the_second_time_that_it_did_nothing(vault: Vault, file: Path, by: str):
    name = str(getattr(vault, by))
    assert run(file, "--vault", name) == "2 turns of 1 conversations, vault “Home”: 2 new.\n"
    assert run(file, "--vault", name).endswith("everything was already there; nothing was changed.\n")
    assert Memory.objects.filter(vault=vault).count() == 2


def test_an_unknown_vault_is_named(vault: Vault, file: Path):
    with pytest.raises(NotFound, match=r"There is no vault “Nowhere”\. The vaults are: Home\."):
        run(file, "--vault", "Nowhere")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff\xfe{}", "is not"),
        (b"[" * 100_000, "too deeply"),
        (b"{}", "not a file of conversations"),
    ],
)
def test_a_bad_file_is_one_sentence_and_changes_nothing(vault: Vault, tmp_path: Path, content: bytes, says: str):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(ConversationsUnreadable, match=says) as caught:
        run(path, "--vault", vault.name)
    assert "\n" not in caught.value.message
    assert not Memory.objects.exists()


def test_a_missing_file(vault: Vault, tmp_path: Path):
    with pytest.raises(ConversationsUnreadable, match="cannot be read: No such file"):
        run(tmp_path / "absent.json", "--vault", vault.name)
