"""Find and read memories (API-06, API-07)."""

from __future__ import annotations

from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router
from pydantic import Field

from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memories_out, memory_out
from memories.rules import limits
from memories.rules.filters import SearchQuery
from memories.rules.fusion import LegScore
from memories.search import reading, recall
from memories.search.predecessors import predecessors
from memories.search.recall import Hit
from memoryhub.lib.answers import json_answer
from memoryhub.lib.metrics import SEARCHES
from memoryhub.lib.strict import StrictModel

router = Router()


class LegOut(TypedDict):
    """One leg's part in a hit."""

    score: float
    rank: int
    normalised: float
    weight: float
    contribution: float


class HitOut(MemoryOut):
    """A memory with its score, each leg's own score, and how they add up when ``explain`` was asked."""

    score: float
    scores: dict[str, float]
    explain: dict[str, LegOut] | None


class SearchOut(TypedDict):
    """Hits, best first; ``degraded`` names what could not take part, ``unreadable`` counts hits that did not open."""

    results: list[HitOut]
    degraded: list[str]
    unreadable: int
    took_ms: float


class Ids(StrictModel):
    """Which memories to read."""

    ids: Annotated[
        list[Annotated[str, Field(max_length=limits.LABEL_MAX, strict=True)]], Field(max_length=limits.READ_IDS_MAX)
    ]


class ReadOut(TypedDict):
    """The memories found, in the order asked, and the ids that are not there."""

    results: list[MemoryOut]
    missing: list[str]


def hit_out(hit: Hit, supersedes: UUID | None, query: SearchQuery) -> HitOut:
    """One hit."""
    return {
        **memory_out(hit.memory, supersedes, compact=query.compact),
        "score": hit.score,
        "scores": {name: leg.score for name, leg in hit.legs.items()},
        "explain": {name: _leg_out(leg) for name, leg in hit.legs.items()} if query.explain else None,
    }


def _leg_out(leg: LegScore) -> LegOut:
    return {
        "score": leg.score,
        "rank": leg.rank,
        "normalised": leg.normalised,
        "weight": leg.weight,
        "contribution": leg.contribution,
    }


@router.post("/memories/search", response=SearchOut)
def search_memories(request: ApiRequest, query: SearchQuery) -> HttpResponse:
    """Memories that answer a question, by meaning and by words."""
    answer = recall.search_memories(request.access, query)
    SEARCHES.labels(str(bool(answer.degraded)).lower()).inc()
    replaced = predecessors(request.access, [hit.memory.pk for hit in answer.hits])
    body: SearchOut = {
        "results": [hit_out(hit, replaced.get(hit.memory.pk), query) for hit in answer.hits],
        "degraded": list(answer.degraded),
        "unreadable": answer.unreadable,
        "took_ms": answer.took_ms,
    }
    return json_answer(body)


@router.post("/memories/read", response=ReadOut)
def read_memories(request: ApiRequest, wanted: Ids) -> HttpResponse:
    """Full memories by id, whatever their state."""
    found, missing = reading.read_memories(request.access, wanted.ids)
    return json_answer({"results": memories_out(request.access, found), "missing": missing})
