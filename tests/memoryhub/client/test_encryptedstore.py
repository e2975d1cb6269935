"""What a store sees of a sealed item, and what happens when it does not open."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from memoryhub.client import (
    DecryptionError,
    EncryptedMemoryStore,
    HumanMemory,
    MemoryCategory,
    MemoryItem,
    MemoryMetadata,
    SQLiteMemoryStore,
)

SECRET = "a long random secret"
TEXT = "The safe opens with 1709."


def test_only_content_is_sealed(tmp_path: Path):
    """ENC-01…04: the file holds no word of it, and every label."""
    path = tmp_path / "sealed.db"
    plain = SQLiteMemoryStore(str(path))
    store = EncryptedMemoryStore(plain, SECRET)
    item = MemoryItem(content=TEXT, category=MemoryCategory.VARIABLE, metadata=MemoryMetadata(user_id="anna"))
    store.add(item)
    inside = asyncio.run(plain.get(item.id))
    assert inside is not None and "1709" not in inside.content
    assert (inside.category, inside.metadata.user_id) == (item.category, "anna")
    plain.close()
    assert b"1709" not in path.read_bytes()
    again = EncryptedMemoryStore(SQLiteMemoryStore(str(path)), SECRET)
    assert asyncio.run(again.get(item.id)) == item


def test_the_same_text_twice_looks_different_and_cannot_be_moved():
    """CON-01: a random nonce, and a text bound to its item."""
    plain = SQLiteMemoryStore()
    store = EncryptedMemoryStore(plain, SECRET)
    one, two = HumanMemory(content=TEXT), HumanMemory(content=TEXT)
    store.add(one)
    store.add(two)
    first, second = asyncio.run(plain.get(one.id)), asyncio.run(plain.get(two.id))
    assert first is not None and second is not None and first.content != second.content
    plain.add(second.model_copy(update={"content": first.content}))
    with pytest.raises(DecryptionError):
        asyncio.run(store.get(two.id))


@pytest.mark.parametrize("content", ["Written past it.", "mh1.%%%", "mh1.", "mh1.AAAA"])
def test_what_does_not_open_fails_alone(content: str, caplog: pytest.LogCaptureFixture):
    """ENC-14, ENC-20, DEF-10: another secret or a damaged text; clear works without opening (ENC-05)."""
    plain = SQLiteMemoryStore()
    EncryptedMemoryStore(plain, "another secret").add(HumanMemory(content="theirs"))
    plain.add(HumanMemory(content=content))
    store = EncryptedMemoryStore(plain, SECRET)
    store.add(HumanMemory(content="mine"))
    with caplog.at_level(logging.WARNING):
        assert [item.content for item in asyncio.run(store.search())] == ["mine"]
    assert len(caplog.records) == 2 and content not in caplog.text.replace("mh1.", "")
    assert asyncio.run(store.clear()) == 3


def test_a_secret_is_needed():
    """ENC-06: opting in is wrapping; half a way is none."""
    with pytest.raises(ValueError, match="secret"):
        EncryptedMemoryStore(SQLiteMemoryStore(), "")
