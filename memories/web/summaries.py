"""Summaries: what would be made of which memories, starting it, and what was made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from memories.rules.plotscales import percent
from memories.search.summaries import SummaryPage, list_summaries
from memories.services.offering import SummarizationOff, preview_clusters, summarize_memories
from memories.services.undoing import ChangesetUndone, UndoExpired
from memories.services.unsummarizing import undo_summary
from memories.web.actors import agent_names
from memories.web.addresses import Address
from memories.web.consolidating import consolidation_tabs
from memories.web.rows import MemoryRow, row_of
from memoryhub.lib.errors import Invalid
from memoryhub.lib.pages import SeeOther, answer_page, in_words, say
from memoryhub.lib.pagination import CursorInvalid, CursorMismatch

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from banks.access import Access
    from memories.models import ClusterSummary
    from memories.search.summaries import WrittenSummary
    from memories.services.offering import ClusterPreview, OfferedCluster
    from memories.web.requests import HubRequest

PAGE = 10
CLUSTERS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class ShownCluster:
    """Memories that would become one, as lines, and why they are together in words."""

    rows: list[MemoryRow]
    ids: list[UUID]
    why: str
    tokens: int
    was_undone: bool
    text: str | None
    can_start: bool


@dataclass(frozen=True, slots=True)
class ShownSummary:
    """A summary with its sources as lines."""

    made: ClusterSummary
    summary: MemoryRow
    sources: list[MemoryRow]
    can_undo: bool


def summaries(request: HubRequest) -> HttpResponse:
    """The clusters there are now, each with a button; below, past summaries with their sources, newest first."""
    access = request.access
    page, agents = _page(request), agent_names(access)
    preview = preview_clusters(access, limit=CLUSTERS_SHOWN) if access.has(KeyScope.CLEANUP_PLAN) else None
    clusters = _clusters(preview, agents)
    context = {
        "tabs": consolidation_tabs("summaries"),
        "preview": preview,
        "clusters": clusters,
        "may_start_all": any(one.can_start for one in clusters) or (preview and preview.total > len(clusters)),
        "tokens": sum(one.tokens for one in preview.clusters) if preview else 0,
        "may_start": access.has(KeyScope.CLEANUP_APPLY),
        "made": [_shown(one, agents, access) for one in page.items],
        "next_url": str(Address(request.path).having(cursor=page.next_cursor)) if page.next_cursor else "",
    }
    return answer_page(request, "memories/summaries.html", context)


@require_POST
def start(request: HubRequest) -> HttpResponse:
    """Summarise the cluster whose memories the form names, or everything; then watch the job."""
    named = request.POST.getlist("memory")
    try:
        job = summarize_memories(request.access, [named] if named else None)
    except SummarizationOff as error:
        say(request, error.message)
        return SeeOther(reverse("summaries"))
    except Invalid as error:
        say(request, f"Not summarised: it {in_words(error, {'clusters': 'cluster'})}.")
        return SeeOther(reverse("summaries"))
    say(request, "Summarising. What is archived can be taken back at Summaries.")
    return SeeOther(reverse("job", args=[job.pk]) if request.access.has(KeyScope.OPS_READ) else reverse("summaries"))


@require_POST
def undo(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Take one summary back."""
    try:
        report = undo_summary(request.access, memory_id)
    except (ChangesetUndone, UndoExpired) as error:
        say(request, error.message)
        return SeeOther(reverse("summaries"))
    left = len(report.changed_since) + len(report.blocked)
    told = f"The summary is taken back: {max(report.undone - 1, 0)} memories are as they were."
    say(request, f"{told} {left} were changed since and stay as they are." if left else told)
    return SeeOther(reverse("summaries"))


def _page(request: HubRequest) -> SummaryPage:
    try:
        return list_summaries(request.access, PAGE, request.GET.get("cursor"))
    except (CursorInvalid, CursorMismatch):
        return list_summaries(request.access, PAGE)


def _clusters(preview: ClusterPreview | None, agents: dict[str, str]) -> list[ShownCluster]:
    if preview is None:
        return []
    return [
        ShownCluster(
            rows=[row_of(memory, agents) for memory in one.memories],
            ids=list(one.found.memory_ids),
            why=_why(one),
            tokens=one.tokens,
            was_undone=one.was_undone,
            text=one.text,
            can_start=preview.has_model or one.text is not None,
        )
        for one in preview.clusters
    ]


def _why(one: OfferedCluster) -> str:
    """Why they are together, in words."""
    found, reasons = one.found, []
    if found.least is not None and found.mean is not None:
        reasons.append(f"at least {percent(100 * found.least)} alike, {percent(100 * found.mean)} on average")
    if found.shared:
        reasons.append(f"shared: {', '.join(found.shared[:5])}")
    return "; ".join(reasons)


def _shown(one: WrittenSummary, agents: dict[str, str], access: Access) -> ShownSummary:
    memory = one.made.memory
    return ShownSummary(
        made=one.made,
        summary=row_of(memory, agents),
        sources=[row_of(source, agents) for source in one.sources],
        can_undo=memory.archived_at is None and access.has(KeyScope.MEMORIES_WRITE),
    )
