"""Summaries of old memories: what would be summarised, starting it, and what was."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router
from pydantic import Field, with_config

from banks.access import KeyScope
from banks.services.banks import UnknownBank
from memories.api.jobs import JobOut, job_out
from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memories_out
from memories.rules import limits
from memories.rules.clusters import Strategy
from memories.rules.drafts import Label
from memories.search import summaries
from memories.search.summaries import WrittenSummary
from memories.services import offering
from memories.services.offering import CHOSEN_MAX, OfferedCluster, SummarizationOff
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.strict import StrictModel

router = Router()

Cluster = Annotated[list[UUID], Field(min_length=2, max_length=100)]


class PageOfSummaries(StrictModel):
    """Which part of the list."""

    limit: Annotated[int, Field(ge=1, le=limits.PAGE_MAX)] = 50
    cursor: str | None = None


class ClusterFilter(StrictModel):
    """Clusters of one bank or of all, and how many of them in full."""

    bank: Label | None = None
    limit: Annotated[int, Field(ge=1, le=limits.PAGE_MAX)] = 50


class SummariesWanted(StrictModel):
    """Clusters by the ids of their memories, as the preview names them; without any, everything old enough."""

    model_config = shown(
        {"clusters": [["01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b17", "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b23"]]}
    )

    clusters: Annotated[list[Cluster], Field(min_length=1, max_length=CHOSEN_MAX)] | None = None


@with_config(
    shown(
        {
            "strategy": "embeddings",
            "least_similarity": 0.81,
            "mean_similarity": 0.86,
            "shared": ["Alice"],
            "estimated_tokens": 420,
        }
    )
)
class ClusterOut(TypedDict):
    """Memories that would become one, shortened, oldest first, and why: similarity on the scale of the settings.

    ``estimated_tokens`` is what asking the model would take, 0 without one. ``was_undone``: it was summarised before
    and taken back, so only naming it summarises it again.
    """

    memory_ids: list[UUID]
    memories: list[MemoryOut]
    strategy: Annotated[str, Word(Strategy)]
    least_similarity: float | None
    mean_similarity: float | None
    shared: list[str]
    estimated_tokens: int
    was_undone: bool


@with_config(shown({"total": 1, "examined": 214, "is_whole": True, "has_model": True, "is_on": True}))
class ClustersOut(TypedDict):
    """What a run would summarise. ``is_whole`` is false where only the oldest of many memories were looked at."""

    clusters: list[ClusterOut]
    total: int
    examined: int
    is_whole: bool
    has_model: bool
    is_on: bool


@with_config(
    shown({"members": 4, "strategy": "embeddings", "least_similarity": 0.81, "shared": ["Alice"], "by_model": True})
)
class SummaryOut(TypedDict):
    """A summary, those of its sources that the caller may see, and the changeset that takes it back.

    ``strategy`` is how the cluster was found, or ``chosen`` where a caller named it.
    """

    id: UUID
    memory: MemoryOut
    sources: list[MemoryOut]
    members: int
    strategy: str
    least_similarity: float | None
    shared: list[str]
    by_model: bool
    changeset_id: UUID | None
    created_at: dt.datetime


class SummaryList(TypedDict):
    """Newest first; ``next_cursor`` is null at the end."""

    items: list[SummaryOut]
    next_cursor: str | None


@router.get(
    "/summaries/clusters", response=ClustersOut, **told("Preview summaries", KeyScope.CLEANUP_PLAN, UnknownBank)
)
def preview_clusters(request: ApiRequest, wanted: Query[ClusterFilter]) -> HttpResponse:
    """What a run would summarise now, and about what it would cost; changes nothing and asks no model."""
    preview = offering.preview_clusters(request.access, wanted.bank, wanted.limit)
    body: ClustersOut = {
        "clusters": [_cluster_out(request, one) for one in preview.clusters],
        "total": preview.total,
        "examined": preview.examined,
        "is_whole": preview.is_whole,
        "has_model": preview.has_model,
        "is_on": preview.is_on,
    }
    return json_answer(body)


@router.post(
    "/summaries", response={202: JobOut}, **told("Summarise old memories", KeyScope.CLEANUP_APPLY, SummarizationOff)
)
def summarize_memories(request: ApiRequest, wanted: SummariesWanted = SummariesWanted()) -> HttpResponse:  # noqa: B008
    """Start summarising: 202 with the job. The originals are archived in one changeset, which can be undone."""
    return json_answer(job_out(offering.summarize_memories(request.access, wanted.clusters)), 202)


@router.get("/summaries", response=SummaryList, **told("List written summaries", KeyScope.MEMORIES_READ))
def list_summaries(request: ApiRequest, wanted: Query[PageOfSummaries]) -> HttpResponse:
    """Summaries that were written, newest first, each with what it was made of."""
    page = summaries.list_summaries(request.access, wanted.limit, wanted.cursor)
    body: SummaryList = {
        "items": [_summary_out(request, one) for one in page.items],
        "next_cursor": page.next_cursor,
    }
    return json_answer(body)


def _cluster_out(request: ApiRequest, one: OfferedCluster) -> ClusterOut:
    return {
        "memory_ids": list(one.found.memory_ids),
        "memories": memories_out(request.access, one.memories, compact=True),
        "strategy": one.found.strategy,
        "least_similarity": one.found.least,
        "mean_similarity": one.found.mean,
        "shared": list(one.found.shared),
        "estimated_tokens": one.tokens,
        "was_undone": one.was_undone,
    }


def _summary_out(request: ApiRequest, one: WrittenSummary) -> SummaryOut:
    (memory,) = memories_out(request.access, [one.made.memory])
    return {
        "id": one.made.pk,
        "memory": memory,
        "sources": memories_out(request.access, one.sources, compact=True),
        "members": one.made.members,
        "strategy": one.made.strategy,
        "least_similarity": one.made.similarity,
        "shared": one.made.shared,
        "by_model": one.made.by_model,
        "changeset_id": one.made.changeset_id,
        "created_at": one.made.created_at,
    }
