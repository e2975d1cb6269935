"""One protocol, five stores: each does the same, so that one may stand for another (MOD-14…17, TST-02)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from memoryhub.client import (
    AIMemory,
    EncryptedMemoryStore,
    EventBus,
    HubMemoryStore,
    HumanMemory,
    LongTermMemory,
    MemoryCategory,
    MemoryEventEmitter,
    MemoryHub,
    MemoryItem,
    MemoryMetadata,
    MemoryStatus,
    MemoryStore,
    ShortTermMemory,
    SQLiteMemoryStore,
    ToolMemory,
)

LOCAL: dict[str, Callable[[], MemoryStore]] = {
    "short-term": ShortTermMemory,
    "sqlite": SQLiteMemoryStore,
    "encrypted": lambda: EncryptedMemoryStore(SQLiteMemoryStore(), "a long random secret"),
    "emitting": lambda: MemoryEventEmitter(store=SQLiteMemoryStore(), bus=EventBus()),
    "long-term": lambda: LongTermMemory(store=SQLiteMemoryStore()),
}
ANNA, BEN = MemoryMetadata(user_id="anna", session_id="s-1"), MemoryMetadata(user_id="ben")
CALLS = [{"id": "c1", "function": {"name": "tides", "arguments": "{}"}}]


@pytest.fixture(params=[*LOCAL, "hub", "encrypted hub"])
def store(request: Any) -> MemoryStore:
    if request.param in LOCAL:
        return LOCAL[request.param]()
    client: MemoryHub = request.getfixturevalue("hub")
    kept = HubMemoryStore(namespace="tests", hub=client)
    return kept if request.param == "hub" else EncryptedMemoryStore(kept, "a long random secret")


def items() -> list[MemoryItem]:
    return [
        HumanMemory(content="I moor the boat in Marseille.", metadata=ANNA),
        AIMemory(content="Noted, the boat is in Marseille.", metadata=ANNA, tool_calls=CALLS),
        ToolMemory(content="High water at noon.", tool_call_id="c1", tool_name="tides", metadata=ANNA),
        MemoryItem(content="Ben repairs bicycles.", category=MemoryCategory.SEMANTIC, metadata=BEN),
        MemoryItem(content="Perhaps Ben sells them.", status=MemoryStatus.DRAFT, metadata=BEN),
    ]


def texts(found: list[MemoryItem]) -> list[str]:
    return [item.content for item in found]


def test_add_get_search_and_clear(store: MemoryStore):
    """With and without await, and in this order."""
    said = items()
    assert isinstance(store, MemoryStore)
    store.add(said[0])

    async def use() -> None:
        for item in said[1:]:
            await store.add(item)
        for item in said[:4]:
            again = await store.get(item.id)
            assert again is not None
            assert (again.content, again.memory_type, again.category) == (item.content, item.memory_type, item.category)
            assert again.metadata.labels == item.metadata.labels
        asked, result = await store.get(said[1].id), await store.get(said[2].id)
        assert isinstance(asked, AIMemory) and asked.tool_calls == CALLS
        assert isinstance(result, ToolMemory) and result.tool_call_id == "c1"
        assert await store.get("nobody") is None
        await search()
        assert await store.clear(metadata=ANNA) == 3
        assert texts(await store.search(metadata=ANNA)) == []
        assert texts(await store.search(metadata=BEN)) == ["Ben repairs bicycles."]
        assert await store.clear() == 2

    async def search() -> None:
        assert texts(await store.search(limit=2)) == texts(said)[2:4]
        assert texts(await store.search(memory_type="human")) == texts(said)[:1]
        assert texts(await store.search(category=MemoryCategory.SEMANTIC)) == texts(said)[3:4]
        assert texts(await store.search(category=MemoryCategory.SEMANTIC, memory_type="human")) == []
        assert texts(await store.search(metadata=BEN, status=MemoryStatus.DRAFT)) == texts(said)[4:]
        assert texts(await store.search(metadata=ANNA, limit=9)) == texts(said)[:3]
        assert texts(await store.search(query="who repairs bicycles?", limit=1)) == texts(said)[3:4]

    asyncio.run(use())


def test_an_item_of_a_known_id_is_rewritten(store: MemoryStore):
    async def use() -> None:
        item = MemoryItem(content="The key hangs left of the door.", metadata=ANNA)
        await store.add(item)
        await store.add(item.model_copy(update={"content": "The key hangs right of the door."}))
        assert texts(await store.search()) == ["The key hangs right of the door."]

    asyncio.run(use())
