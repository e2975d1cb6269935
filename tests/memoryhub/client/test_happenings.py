"""Events of a store, told on a bus."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memoryhub.client import (
    EncryptedMemoryStore,
    EventBus,
    HumanMemory,
    MemoryEvent,
    MemoryEventEmitter,
    SQLiteMemoryStore,
)


def test_added_searched_cleared():
    """EVT-01, ENC-07: encryption inside, events outside, and no event has a text in it."""
    bus, heard = EventBus(), list[MemoryEvent]()
    plain = SQLiteMemoryStore()
    store = MemoryEventEmitter(EncryptedMemoryStore(plain, "a long random secret"), bus=bus)
    end = bus.subscribe("memory.*", heard.append)
    bus.subscribe("memory.added", lambda event: None)
    item = HumanMemory(content="The tide turns at six.")
    store.add(item)
    assert [(event.name, event.ids) for event in heard] == [("memory.added", [item.id])]

    async def use() -> None:
        store.add(item)
        assert len(heard) == 2, "told at once where the store is done at once"
        assert (await store.get(item.id)) == item
        assert [one.content for one in await store.search(query="tide")] == [item.content]
        await store.clear()

    asyncio.run(use())
    names = ["memory.added", "memory.added", "memory.searched", "memory.cleared"]
    assert [event.name for event in heard] == names
    assert heard[-1].count == 1 and "tide" not in repr(heard)
    end()
    end()
    asyncio.run(store.clear())
    assert len(heard) == 4


def test_async_subscribers_and_failing_writes():
    """What was not done is not told."""
    bus, heard = EventBus(), list[str]()

    async def hear(event: MemoryEvent) -> None:
        await asyncio.sleep(0)
        heard.append(event.name)

    class Full(SQLiteMemoryStore):
        def add(self, item: Any) -> Any:
            raise OSError("no room")

    bus.subscribe("memory.added", hear)
    with pytest.raises(OSError, match="no room"):
        MemoryEventEmitter(Full(), bus).add(HumanMemory(content="x"))
    assert heard == []
    MemoryEventEmitter(SQLiteMemoryStore(), bus).add(HumanMemory(content="x"))
    assert heard == ["memory.added"]
