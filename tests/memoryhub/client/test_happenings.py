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


def test_a_subscriber_that_fails_fails_alone(caplog: pytest.LogCaptureFixture):
    """EVT-05: the item is stored, the others hear of it, and the log says what went wrong."""
    bus, heard = EventBus(), list[str]()

    def fail(event: MemoryEvent) -> None:
        raise ValueError("deaf")

    async def fail_later(event: MemoryEvent) -> None:
        raise ValueError("deaf later")

    bus.subscribe("*", fail)
    bus.subscribe("*", fail_later)

    def hear(event: MemoryEvent) -> int:
        heard.append(event.name)
        return len(heard)  # what a subscriber returns is nobody's business

    bus.subscribe("*", hear)
    store = SQLiteMemoryStore()
    MemoryEventEmitter(store, bus).add(HumanMemory(content="x"))

    async def use() -> None:
        await MemoryEventEmitter(store, bus).add(HumanMemory(content="y"))
        assert len(await store.search()) == 2

    asyncio.run(use())
    assert heard == ["memory.added"] * 2
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["deaf", "deaf later"] * 2
