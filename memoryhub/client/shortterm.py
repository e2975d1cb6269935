"""The conversation that is going on, in memory: scoped, windowed, tool calls whole (STM-01…11)."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from memories.rules.vocabulary import WindowScope
from memories.rules.windowing import Kept, WindowLimits, window
from memoryhub.client.acting import Done
from memoryhub.client.items import AIMemory, MemoryCategory, MemoryItem, MemoryMetadata, MemoryStatus
from memoryhub.client.stores import Filters, chosen


class ShortTermMemory:
    """Messages of conversations; ``scope`` says by which id they are told apart: user, session or task."""

    def __init__(self, scope: str = "session") -> None:
        self.scope = WindowScope(scope)
        self._items: dict[str, MemoryItem] = {}

    def add(self, item: MemoryItem) -> Awaitable[None]:
        """Append it; an item of a known id is replaced where it stands."""
        self._items[item.id] = item
        return Done(None)

    async def get(self, item_id: str) -> MemoryItem | None:
        """The item; None when there is none."""
        return self._items.get(item_id)

    async def search(
        self,
        *,
        query: str = "",
        metadata: MemoryMetadata | None = None,
        memory_type: str | None = None,
        category: MemoryCategory | None = None,
        status: MemoryStatus | None = None,
        limit: int = 10,
    ) -> list[MemoryItem]:
        """The newest that match, or for a query the best."""
        filters = Filters(metadata, memory_type, category, status).recallable()
        return chosen(self._items.values(), filters, query, limit)

    async def clear(
        self,
        *,
        metadata: MemoryMetadata | None = None,
        memory_type: str | None = None,
        category: MemoryCategory | None = None,
        status: MemoryStatus | None = None,
    ) -> int:
        """Forget what matches; how many."""
        filters = Filters(metadata, memory_type, category, status)
        gone = [item.id for item in self._items.values() if filters.match(item)]
        for item_id in gone:
            del self._items[item_id]
        return len(gone)

    def get_messages(
        self,
        metadata: MemoryMetadata | None = None,
        max_rounds: int | None = None,
        max_tokens: int | None = None,
        limit: int | None = None,
    ) -> list[MemoryItem]:
        """The turns to show a model, oldest first: the last rounds that fit, as the hub's own windows are cut.

        ``metadata`` names the conversation by the id of the scope; a message without that id belongs to each, since
        instructions often carry none. System messages and the newest human message are always there.
        """
        said = [item for item in self._items.values() if item.memory_type is not None and self._belongs(item, metadata)]
        kept = window([item.windowed() for item in said], WindowLimits(max_rounds, max_tokens, limit))
        return _shown(said, kept)

    def _belongs(self, item: MemoryItem, metadata: MemoryMetadata | None) -> bool:
        wanted = metadata.labels.get(f"{self.scope.value}_id") if metadata else None
        own = item.metadata.labels.get(f"{self.scope.value}_id")
        return item.status is not MemoryStatus.DISCARD and (wanted is None or own is None or own == wanted)


def _shown(said: Sequence[MemoryItem], kept: Sequence[Kept]) -> list[MemoryItem]:
    items = [(said[one.place], one.stripped) for one in kept]
    return [
        item.model_copy(update={"tool_calls": []}) if stripped and isinstance(item, AIMemory) else item
        for item, stripped in items
    ]
