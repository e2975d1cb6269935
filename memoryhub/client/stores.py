"""What a store of memories is, and how one without an index of its own filters and ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from memories.rules.bm25 import bm25, corpus_of
from memoryhub.client.items import MemoryCategory, MemoryItem, MemoryMetadata, MemoryStatus
from memoryhub.lib.text import tokenize


@runtime_checkable
class MemoryStore(Protocol):
    """Anything that can add, get, search and clear (MOD-14…17); one store may stand for another.

    ``add`` of a known id replaces. ``search`` gives the best first for a ``query``, else the newest ``limit`` in the
    order in which they were said; without a ``status`` only what is accepted.
    """

    def add(self, item: MemoryItem) -> Awaitable[None]:
        """Keep it: at once, and it may be awaited."""

    async def get(self, item_id: str) -> MemoryItem | None:
        """The item; None when there is none."""

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
        """The items that match."""

    async def clear(
        self,
        *,
        metadata: MemoryMetadata | None = None,
        memory_type: str | None = None,
        category: MemoryCategory | None = None,
        status: MemoryStatus | None = None,
    ) -> int:
        """Remove what matches, everything without a filter; how many."""


@runtime_checkable
class FindsSimilar(Protocol):
    """A store that compares by meaning and can say how far."""

    async def search_similar(self, content: str, limit: int, threshold: float) -> list[MemoryItem]:
        """The items that mean nearly the same, nearest first."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What an item must be; all of it must hold."""

    metadata: MemoryMetadata | None = None
    memory_type: str | None = None
    category: MemoryCategory | None = None
    status: MemoryStatus | None = None

    def match(self, item: MemoryItem) -> bool:
        """Whether it is."""
        labels = item.metadata.labels
        return (
            (self.metadata is None or all(labels.get(name) == one for name, one in self.metadata.labels.items()))
            and self.memory_type in (None, item.memory_type)
            and self.category in (None, item.category)
            and self.status in (None, item.status)
        )

    def recallable(self) -> Filters:
        """The same for a search: only what is accepted unless something else was asked for (STA-09)."""
        return Filters(self.metadata, self.memory_type, self.category, self.status or MemoryStatus.ACCEPTED)


def chosen(items: Iterable[MemoryItem], filters: Filters, query: str, limit: int) -> list[MemoryItem]:
    """The newest that match, or for a query those that share words with it, best first."""
    matching = [item for item in items if filters.match(item)]
    if query.strip():
        return _ranked(matching, query)[:limit]
    return matching[max(0, len(matching) - limit) :]


def _ranked(items: Sequence[MemoryItem], query: str) -> list[MemoryItem]:
    """By BM25 over the hub's own terms; among equals the newer first."""
    asked = set(tokenize(query, query=True))
    terms = [Counter(tokenize(item.content)) for item in items]
    lengths = [each.total() for each in terms]
    corpus = corpus_of(terms, lengths)
    scores = [bm25(asked, each, length, corpus) for each, length in zip(terms, lengths, strict=True)]
    places = sorted((place for place in range(len(items)) if scores[place] > 0), key=lambda at: (-scores[at], -at))
    return [items[place] for place in places]
