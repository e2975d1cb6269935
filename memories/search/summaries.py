"""Summaries that were written of clusters, with the memories they were made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from banks.access import Access, KeyScope
from memories.models import ClusterSummary, Memory
from memoryhub.lib.pagination import decode_cursor, encode_cursor, query_text


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A summary, and those of its sources that the caller may see, oldest first."""

    made: ClusterSummary
    sources: list[Memory]


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """Summaries, newest first."""

    items: list[WrittenSummary]
    next_cursor: str | None


def list_summaries(access: Access, limit: int = 50, cursor: str | None = None) -> SummaryPage:
    """What was summarised, also what was undone since. Needs memories:read. Raises CursorInvalid, CursorMismatch."""
    access.require(KeyScope.MEMORIES_READ)
    query = query_text(access.vault_id, access.actor.id, "summaries")
    seen = Memory.objects.visible_to(access).filter(is_summarized=True)
    rows = ClusterSummary.objects.filter(vault_id=access.vault_id, memory__in=seen)
    if cursor:
        rows = rows.filter(id__lt=UUID(str(decode_cursor(cursor, query).position[0])))
    found = list(rows.select_related("memory__bank", "changeset").order_by("-id")[: limit + 1])
    following = encode_cursor([str(found[limit - 1].pk)], query) if len(found) > limit else None
    return SummaryPage(_with_sources(access, found[:limit]), following)


def _with_sources(access: Access, made: Sequence[ClusterSummary]) -> list[WrittenSummary]:
    ids = {source for one in made for source in one.memory.summarized_from}
    sources = Memory.objects.visible_to(access).select_related("bank").in_bulk(ids)
    return [
        WrittenSummary(one, [sources[source] for source in one.memory.summarized_from if source in sources])
        for one in made
    ]
