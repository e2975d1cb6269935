"""What is worth keeping after the conversation: deduplicated, in a namespace, in a hub or in any store."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from enum import StrEnum

from memories.rules.vocabulary import UpdateAction
from memoryhub.client.acting import act
from memoryhub.client.hub import MemoryHub
from memoryhub.client.hubstore import HubMemoryStore
from memoryhub.client.items import MemoryCategory, MemoryItem, MemoryMetadata, MemoryStatus
from memoryhub.client.stores import FindsSimilar, MemoryStore
from memoryhub.client.updating import MemUpdateChecker, UpdateDecision
from memoryhub.lib.text import content_fingerprint


class ExtractionType(StrEnum):
    """What is looked for in a conversation (MOD-43)."""

    USER_PROFILE = "user_profile"
    AGENT_EXPERIENCE = "agent_experience"
    FACTS = "facts"

    @property
    def category(self) -> MemoryCategory:
        """The category such a memory has (MOD-44)."""
        return _CATEGORIES[self]


_CATEGORIES = {
    ExtractionType.USER_PROFILE: MemoryCategory.USER_PROFILE,
    ExtractionType.AGENT_EXPERIENCE: MemoryCategory.EPISODIC,
    ExtractionType.FACTS: MemoryCategory.SEMANTIC,
}


class LongTermMemory:
    """Keeps items of a ``namespace`` in a hub, or in another ``store``, whose own namespace then holds.

    Without an ``update_checker`` a hub deduplicates by its own ladder, and in another store the same text of the same
    role is not kept twice. With one, its decision is carried out. ``hub`` is the environment's unless given.
    """

    def __init__(
        self,
        namespace: str | Sequence[str] = "default",
        update_checker: MemUpdateChecker | None = None,
        *,
        hub: MemoryHub | None = None,
        store: MemoryStore | None = None,
    ) -> None:
        self.namespace = namespace
        self.update_checker = update_checker
        self.store: MemoryStore = store or HubMemoryStore(namespace, hub)

    def add(
        self,
        item: MemoryItem | None = None,
        *,
        content: str | None = None,
        extraction_type: ExtractionType | None = None,
        metadata: MemoryMetadata | None = None,
    ) -> Awaitable[None]:
        """Keep an item, or what ``content`` says (CON-28): at once, and it may be awaited."""
        if (item is None) == (content is None):
            raise TypeError("Give an item, or its content.")
        if item is None:
            category = extraction_type.category if extraction_type else None
            metadata = metadata or MemoryMetadata()
            item = MemoryItem(content=content or "", category=category, metadata=metadata)
        if self.update_checker is None and isinstance(self.store, HubMemoryStore):
            return self.store.add(item)
        return act(self._add(item))

    async def get(self, item_id: str) -> MemoryItem | None:
        """The item; None when there is none."""
        return await self.store.get(item_id)

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
        """What answers a query, best first; without one the newest."""
        return await self.store.search(
            query=query, metadata=metadata, memory_type=memory_type, category=category, status=status, limit=limit
        )

    async def search_similar(self, content: str, limit: int, threshold: float) -> list[MemoryItem]:
        """What means nearly the same, where the store can tell; else what its search finds."""
        if isinstance(self.store, FindsSimilar):
            return await self.store.search_similar(content, limit, threshold)
        return await self.store.search(query=content, limit=limit)

    async def clear(
        self,
        *,
        metadata: MemoryMetadata | None = None,
        memory_type: str | None = None,
        category: MemoryCategory | None = None,
        status: MemoryStatus | None = None,
    ) -> int:
        """Put away what matches; how many."""
        return await self.store.clear(metadata=metadata, memory_type=memory_type, category=category, status=status)

    async def _add(self, item: MemoryItem) -> None:
        if self.update_checker is not None:
            await self._carry_out(await self.update_checker.check(item), item)
        elif not await self._is_there(item):
            await self.store.add(item)

    async def _carry_out(self, decided: UpdateDecision, item: MemoryItem) -> None:
        """ADD stores, UPDATE rewrites the target under its id, SUPERSEDE replaces it, SKIP does nothing (DUP-11)."""
        if decided.action is UpdateAction.SKIP:
            return
        target = await self.store.get(decided.target_id) if decided.target_id else None
        if target is None:
            await self.store.add(item)
        elif decided.action is UpdateAction.UPDATE:
            await self.store.add(target.model_copy(update={"content": decided.merged_content}))
        elif isinstance(self.store, HubMemoryStore):
            await self.store.replace(item, target)
        else:
            await self.store.add(item.model_copy(update={"id": target.id}))

    async def _is_there(self, item: MemoryItem) -> bool:
        """The same text by the same role, as the hub compares texts (DUP-01)."""
        wanted = content_fingerprint(item.content)
        near = await self.store.search(query=item.content, memory_type=item.memory_type, limit=20)
        return any(
            content_fingerprint(other.content) == wanted
            and other.memory_type == item.memory_type
            and other.id != item.id
            and other.metadata.labels == item.metadata.labels
            for other in near
        )
