from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryhub import env
from memoryhub.local.keyfile import generate_secrets

ONE, TWO = (base64.b64encode(bytes([number]) * 32).decode() for number in (1, 2))


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    for name in ("KEYS", "KEYS_FILE", "ACTIVE_KEY", "SECRET_KEY", "SECRET_KEY_FILE", "PEPPER", "PEPPER_FILE"):
        monkeypatch.delenv(f"MEMORYHUB_{name}", raising=False)
    monkeypatch.setenv("MEMORYHUB_DATA", str(tmp_path))
    env.environment.cache_clear()
    env.secrets.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    env.environment.cache_clear()
    env.secrets.cache_clear()


def test_everything_wrong_is_in_one_sentence(fresh: pytest.MonkeyPatch):
    """CFG-01: bad configuration is refused at the start, by name."""
    fresh.setenv("MEMORYHUB_WEB_THREADS", "many")
    fresh.setenv("MEMORYHUB_EMBEDDER", "magic")
    with pytest.raises(env.EnvironmentInvalid) as caught:
        env.environment()
    assert "MEMORYHUB_WEB_THREADS" in caught.value.message
    assert "MEMORYHUB_EMBEDDER" in caught.value.message
    assert "\n" not in caught.value.message


def test_a_remote_embedder_needs_its_address(fresh: pytest.MonkeyPatch):
    fresh.setenv("MEMORYHUB_EMBEDDER", "openai")
    with pytest.raises(env.EnvironmentInvalid, match="MEMORYHUB_EMBEDDER_URL"):
        env.environment()


def test_keys_from_the_environment(fresh: pytest.MonkeyPatch, tmp_path: Path):
    """ENC-09: keys come from the environment or a file; the highest id seals unless another is named."""
    fresh.setenv("MEMORYHUB_KEYS", f"1:{ONE},2:{TWO}")
    fresh.setenv("MEMORYHUB_SECRET_KEY", "s" * 40)
    (tmp_path / "pepper").write_text("p" * 40 + "\n")
    fresh.setenv("MEMORYHUB_PEPPER_FILE", str(tmp_path / "pepper"))
    found = env.secrets()
    assert (dict(found.keys), found.active) == ({1: b"\1" * 32, 2: b"\2" * 32}, 2)
    assert found.pepper == b"p" * 40

    fresh.setenv("MEMORYHUB_ACTIVE_KEY", "1")
    env.environment.cache_clear()
    env.secrets.cache_clear()
    assert env.secrets().active == 1


def test_what_is_missing_is_named(fresh: pytest.MonkeyPatch):
    fresh.setenv("MEMORYHUB_SECRET_KEY", "s" * 40)
    with pytest.raises(env.SecretsMissing, match=r"Missing: MEMORYHUB_KEYS, MEMORYHUB_PEPPER\."):
        env.secrets()


@pytest.mark.parametrize("keys", ["nonsense", "1:***", "one:QUJD", ":"])
def test_unreadable_keys_are_refused(fresh: pytest.MonkeyPatch, keys: str):
    fresh.setenv("MEMORYHUB_KEYS", keys)
    with pytest.raises(env.EnvironmentInvalid, match="1:BASE64"):
        env.secrets()


def test_a_damaged_key_file_is_refused(tmp_path: Path):
    (tmp_path / "keys.json").write_text("{")
    with pytest.raises(env.EnvironmentInvalid, match="restore it"):
        env.secrets()


def test_generated_secrets_are_private_and_stay(tmp_path: Path):
    generate_secrets(env.environment())
    before = (tmp_path / "keys.json").read_text()
    assert (tmp_path / "keys.json").stat().st_mode & 0o777 == 0o600
    assert len(env.secrets().keys[1]) == 32
    generate_secrets(env.environment())
    assert (tmp_path / "keys.json").read_text() == before


def test_a_key_of_ones_own_is_not_doubled_on_disk(fresh: pytest.MonkeyPatch, tmp_path: Path):
    fresh.setenv("MEMORYHUB_KEYS", f"7:{ONE}")
    generate_secrets(env.environment())
    assert set(json.loads((tmp_path / "keys.json").read_text())) == {"secret_key", "pepper"}
    assert env.secrets().active == 7


def test_hosts_are_this_machine_and_what_was_named(fresh: pytest.MonkeyPatch):
    fresh.setenv("MEMORYHUB_PUBLIC_URL", "https://hub.example.org")
    fresh.setenv("MEMORYHUB_ALLOWED_HOSTS", "a.example.org, b.example.org")
    found = env.environment()
    assert {"localhost", "hub.example.org", "a.example.org", "b.example.org"} <= set(found.hosts)
    assert found.is_https
