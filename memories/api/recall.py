"""Find and read memories (API-06, API-07)."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from django.http import HttpResponse
from ninja import Router
from pydantic import Field

from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memories_out, memory_out
from memories.rules import limits
from memories.rules.filters import SearchQuery
from memories.search import reading, recall
from memories.search.predecessors import predecessors
from memoryhub.lib.answers import json_answer
from memoryhub.lib.strict import StrictModel

router = Router()


class HitOut(MemoryOut):
    """A memory with its score and, part by part, where the score comes from."""

    score: float
    scores: dict[str, Any]


class SearchOut(TypedDict):
    """Hits, best first; ``degraded`` names the legs that could not take part."""

    results: list[HitOut]
    degraded: list[str]
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


@router.post("/memories/search", response=SearchOut)
def search_memories(request: ApiRequest, query: SearchQuery) -> HttpResponse:
    """Memories that answer a question, by meaning and by words."""
    answer = recall.search_memories(request.access, query)
    replaced = predecessors(request.access, [hit.memory.pk for hit in answer.hits])
    results = [
        {
            **memory_out(hit.memory, replaced.get(hit.memory.pk), compact=query.compact),
            "score": hit.score,
            "scores": hit.scores,
        }
        for hit in answer.hits
    ]
    return json_answer({"results": results, "degraded": list(answer.degraded), "took_ms": answer.took_ms})


@router.post("/memories/read", response=ReadOut)
def read_memories(request: ApiRequest, wanted: Ids) -> HttpResponse:
    """Full memories by id, whatever their state."""
    found, missing = reading.read_memories(request.access, wanted.ids)
    return json_answer({"results": memories_out(request.access, found), "missing": missing})
