"""A hub behind the protocol of a store: what agents keep in it is searched by meaning and seen in the browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast
from uuid import UUID

from memories.rules.vocabulary import MemoryCategory, MemoryType
from memoryhub.client.acting import Lane
from memoryhub.client.answers import Memory
from memoryhub.client.defaulthub import shared_hub
from memoryhub.client.errors import NotFound
from memoryhub.client.fields import MemoryFields, MemoryFilters, SearchOptions
from memoryhub.client.hub import MemoryHub
from memoryhub.client.items import MemoryItem, MemoryMetadata, MemoryStatus, item_of

#: Sealed texts begin like this: they resemble each other and say nothing, so the hub need not compare them.
SEALED = "mh1."
#: Labels of the hub an item carries in ``metadata.extra``.
LABELS = frozenset({"bank", "type", "importance", "confidence", "fact_key", "tags", "entities", "source_kind"})
_MESSAGE = ("tool_calls", "tool_call_id", "tool_name", "is_error")
_TYPES = {MemoryCategory.EPISODIC: MemoryType.EPISODIC}
_READ_AT_ONCE = 200


class HubMemoryStore:
    """Items as memories of a hub, in one namespace; without ``hub`` the one the environment names.

    Calls go out from a thread, one after the other, so that an event loop goes on and what was added is found.
    """

    def __init__(self, namespace: str | Sequence[str] = "default", hub: MemoryHub | None = None) -> None:
        self.namespace = [namespace] if isinstance(namespace, str) else list(namespace)
        self.hub = hub or shared_hub()
        self._lane = Lane()

    def add(self, item: MemoryItem) -> Awaitable[None]:
        """Write it; the hub's own deduplication decides what becomes of it. An item of a known id is rewritten."""
        return self._lane.do(lambda: self._write(item))

    def replace(self, item: MemoryItem, old: MemoryItem) -> Awaitable[None]:
        """Write it in the place of an older one, which is archived and names its successor."""
        return self._lane.do(lambda: self._write(item, supersedes=self._known(old.id)))

    async def get(self, item_id: str) -> MemoryItem | None:
        """The item by its own id or by the hub's."""
        found = await self._lane.do(lambda: self._known(item_id))
        return None if found is None else item_from(found)

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
        """The hub's recall for a query, by meaning and words; without one the newest."""
        filters = self._filters(metadata, memory_type, category, status)
        if query.strip():
            options = cast("SearchOptions", {**filters, "top_k": limit})
            found = await self._lane.do(lambda: self.hub.search_memories(query, **options))
            return [item_from(one) for one in found.results]
        newest = await self._lane.do(lambda: self._newest(filters, limit))
        return [item_from(one) for one in reversed(newest)]

    async def search_similar(self, content: str, limit: int, threshold: float) -> list[MemoryItem]:
        """What means nearly the same, by plain cosine."""
        options: SearchOptions = {"top_k": limit, "threshold": threshold, "namespace": self.namespace}
        options["settings"] = {"search_profile": "seed"}
        found = await self._lane.do(lambda: self.hub.search_memories(content, **options))
        near = [(one.scores["semantic"], item_from(one)) for one in found.results if "semantic" in one.scores]
        for similarity, item in near:
            item._similarity = similarity
        return [item for _, item in sorted(near, key=lambda pair: -pair[0])]

    async def clear(
        self,
        *,
        metadata: MemoryMetadata | None = None,
        memory_type: str | None = None,
        category: MemoryCategory | None = None,
        status: MemoryStatus | None = None,
    ) -> int:
        """Archive what matches, in this namespace: recall does not find it any more, and people can bring it back."""
        filters = self._filters(metadata, memory_type, category, status)
        return await self._lane.do(lambda: self._archive({**filters, "status": status.value if status else "any"}))

    def _write(self, item: MemoryItem, supersedes: Memory | None = None) -> None:
        self.hub.write_memory(item.content, **fields_of(item, self.namespace, supersedes))

    def _known(self, item_id: str) -> Memory | None:
        anything: MemoryFilters = {"status": "any", "namespace": self.namespace, "limit": 1}
        anything["external_write_id"] = item_id
        listed = self.hub.list_memories(**anything).items
        if listed or not _is_uuid(item_id):
            return listed[0] if listed else None
        try:
            memory = self.hub.get_memory(item_id)
        except NotFound:
            return None
        return None if memory.archived or memory.namespace != self.namespace else memory

    def _filters(
        self,
        metadata: MemoryMetadata | None,
        memory_type: str | None,
        category: MemoryCategory | None,
        status: MemoryStatus | None,
    ) -> dict[str, Any]:
        told = {"role": memory_type, "category": category, "status": status}
        labels = metadata.labels if metadata else {}
        return {"namespace": self.namespace, **labels, **{name: one for name, one in told.items() if one is not None}}

    def _newest(self, filters: dict[str, Any], limit: int) -> list[Memory]:
        wanted = cast("MemoryFilters", {**filters, "limit": min(limit, _READ_AT_ONCE)})
        every = self.hub.every_memory(**wanted)
        return [memory for _, memory in zip(range(limit), every, strict=False)]

    def _archive(self, filters: dict[str, Any]) -> int:
        gone = 0
        wanted = cast("MemoryFilters", {**filters, "limit": _READ_AT_ONCE})
        while page := self.hub.list_memories(**wanted).items:
            report = self.hub.bulk_change("archive", ids=[one.id for one in page], reason="cleared")
            gone += report.changed
            if not report.changed:
                break
        return gone


def fields_of(item: MemoryItem, namespace: Sequence[str], supersedes: Memory | None = None) -> MemoryFields:
    """The labels an item becomes a memory with."""
    extra = item.metadata.extra
    labels = {name: extra[name] for name in LABELS & extra.keys()}
    if item.category in _TYPES:
        labels.setdefault("type", _TYPES[item.category])
    said = {name: value for name in _MESSAGE if (value := getattr(item, name, None))}
    values: dict[str, Any] = {
        **labels,
        **item.metadata.labels,
        "namespace": list(namespace),
        "role": item.memory_type,
        "category": item.category,
        "external_write_id": item.id,
        "extra": {**{name: value for name, value in extra.items() if name not in LABELS}, **said},
    }
    if item.status is not MemoryStatus.ACCEPTED:
        values["status"] = item.status
    if item.content.startswith(SEALED):
        values["dedup"] = False
    if supersedes is not None:
        values["supersedes"] = supersedes.id
    return cast("MemoryFields", values)


def item_from(memory: Memory) -> MemoryItem:
    """A memory as an item: of the class of its role, under the id it was written with, else the hub's."""
    said = {name: memory.extra[name] for name in _MESSAGE if name in memory.extra}
    labels: dict[str, Callable[[Memory], Any] | Any] = {"bank": memory.bank, "type": memory.type}
    return item_of(
        {
            "id": memory.external_write_id or str(memory.id),
            "content": memory.text,
            "memory_type": memory.role,
            "status": memory.status,
            "category": memory.category,
            "metadata": {
                "user_id": memory.user_id,
                "session_id": memory.session_id,
                "task_id": memory.task_id,
                "agent_id": memory.agent_id,
                "extra": {**{name: one for name, one in memory.extra.items() if name not in said}, **labels},
            },
            "created_at": memory.created_at,
            "updated_at": memory.updated_at,
            **said,
        }
    )


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
