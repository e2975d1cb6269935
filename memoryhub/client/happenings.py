"""What happens to memories, told to whoever subscribed: a bus in this process, and a wrapper that speaks on it.

Events carry ids, never texts (EVT). The hub's own events are read from the hub.
"""

from __future__ import annotations

import datetime as dt
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import TracebackType
from typing import Any

from memoryhub.client.acting import act, after
from memoryhub.client.items import MemoryCategory, MemoryItem, MemoryMetadata, MemoryStatus
from memoryhub.client.stores import MemoryStore

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """Its name, such as ``memory.added``, the items it is about, and how many."""

    name: str
    ids: Sequence[str] = ()
    count: int = 0
    at: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))


type Handler = Callable[[MemoryEvent], Any]


class EventBus:
    """Hands events to subscribers, in the order they subscribed; async ones are begun at once.

    What a subscriber fails at is its own: the log says so, and the write it was told of stands (EVT-05).
    """

    def __init__(self) -> None:
        self._handlers: list[tuple[str, Handler]] = []

    def subscribe(self, name: str, handler: Handler) -> Callable[[], None]:
        """Hear events of a name, or of many: ``memory.*``. Calling the answer ends it."""
        entry = (name, handler)
        self._handlers.append(entry)

        def unsubscribe() -> None:
            if entry in self._handlers:
                self._handlers.remove(entry)

        return unsubscribe

    def emit(self, event: MemoryEvent) -> None:
        """Tell everyone who asked for it."""
        for name, handler in list(self._handlers):
            if fnmatchcase(event.name, name):
                _tell(handler, event)


class _Subscriber:
    """Whoever is told: what goes wrong inside is a line in the log, and nothing of it comes out."""

    def __init__(self, event: MemoryEvent) -> None:
        self._event = event

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        log.error("A subscriber failed at %s.", self._event.name, exc_info=error)
        return True


def _tell(handler: Handler, event: MemoryEvent) -> None:
    with _Subscriber(event):
        later = handler(event)
        if inspect.isawaitable(later):
            act(_heard(later, event))


async def _heard(later: Awaitable[Any], event: MemoryEvent) -> None:
    with _Subscriber(event):
        await later


class MemoryEventEmitter:
    """Any store; emits ``memory.added``, ``memory.searched`` and ``memory.cleared`` when it was done (EVT-01)."""

    def __init__(self, store: MemoryStore, bus: EventBus) -> None:
        self._store = store
        self.bus = bus

    def add(self, item: MemoryItem) -> Awaitable[None]:
        """Add it, then tell."""
        event = MemoryEvent("memory.added", [item.id], 1)
        return after(self._store.add(item), lambda: self.bus.emit(event))

    async def get(self, item_id: str) -> MemoryItem | None:
        """The item; nobody is told."""
        return await self._store.get(item_id)

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
        """Search, then tell what was found."""
        found = await self._store.search(
            query=query, metadata=metadata, memory_type=memory_type, category=category, status=status, limit=limit
        )
        self.bus.emit(MemoryEvent("memory.searched", [item.id for item in found], len(found)))
        return found

    async def clear(
        self,
        *,
        metadata: MemoryMetadata | None = None,
        memory_type: str | None = None,
        category: MemoryCategory | None = None,
        status: MemoryStatus | None = None,
    ) -> int:
        """Clear, then tell how many went."""
        gone = await self._store.clear(metadata=metadata, memory_type=memory_type, category=category, status=status)
        self.bus.emit(MemoryEvent("memory.cleared", count=gone))
        return gone
