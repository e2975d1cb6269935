"""What a write answers: one or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, TypedDict
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from pydantic import Field, with_config

from banks.access import Access
from memories.api.shapes import MemoryOut, memory_out
from memories.rules import limits
from memories.rules.drafts import MemoryDraft
from memories.rules.vocabulary import Outcome
from memories.search.relatives import NONE, Relatives, relatives
from memories.services.writing import WriteResult
from memoryhub.lib.answers import json_answer, request_id_of
from memoryhub.lib.errors import HubError
from memoryhub.lib.metrics import MEMORIES_WRITTEN
from memoryhub.lib.openapi.shapes import Unparsed, Word, shown
from memoryhub.lib.problems import problem, status_of
from memoryhub.lib.strict import StrictModel

_SHOWN: Mapping[str, Any] = {
    "outcome": "created",
    "decided_by": "no_match",
    "reason": "Nothing like it was there.",
}


@with_config(shown(_SHOWN))
class WrittenOut(TypedDict):
    """What became of a write and why; a duplicate carries the memory that is already there."""

    memory: MemoryOut
    outcome: Annotated[str, Word(Outcome)]
    duplicate_of: UUID | None
    superseded_id: UUID | None
    similarity: float | None
    similar_to: UUID | None
    pair_id: UUID | None
    decided_by: str
    reason: str


@with_config(shown({**_SHOWN, "index": 0, "status": 201}))
class BatchWrittenOut(WrittenOut):
    """An item that was written."""

    index: int
    status: int


@with_config(
    shown(
        {
            "index": 1,
            "status": 422,
            "outcome": "failed",
            "problem": {
                "type": "urn:memoryhub:problem:unknown_bank",
                "title": "Unprocessable Entity",
                "status": 422,
                "detail": "There is no bank “Garage” in this vault.",
                "instance": "/api/v1/memories/batch#/items/1",
                "code": "unknown_bank",
                "request_id": "5f6d0c1e9a3b4c7d",
                "errors": [
                    {
                        "pointer": "/items/1/bank",
                        "code": "unknown_bank",
                        "detail": "must be one of: General, Personal, Work",
                    }
                ],
            },
        }
    )
)
class BatchFailedOut(TypedDict):
    """An item that was not, and why."""

    index: int
    status: int
    outcome: Literal["failed"]
    problem: dict[str, Any]


class BatchOut(TypedDict):
    """One result per item, in the order sent."""

    results: list[BatchWrittenOut | BatchFailedOut]


class Batch(StrictModel):
    """Up to 500 memories; each is checked by itself, so that one bad item fails alone."""

    unchecked: ClassVar[frozenset[str]] = frozenset({"items"})

    items: Annotated[list[Annotated[Any, Unparsed(MemoryDraft)]], Field(min_length=1, max_length=limits.BATCH_MAX)]


def status_of_write(result: WriteResult) -> int:
    """201 when there is a memory that was not there before, else 200."""
    return 201 if result.outcome in (Outcome.CREATED, Outcome.SUPERSEDED) else 200


def written_out(result: WriteResult, kin: Relatives) -> WrittenOut:
    """One write."""
    MEMORIES_WRITTEN.labels(result.outcome.value).inc()
    return {
        "memory": memory_out(result.memory, kin),
        "outcome": result.outcome,
        "duplicate_of": result.duplicate_of,
        "superseded_id": result.superseded_id,
        "similarity": None if result.similarity is None else round(result.similarity, 4),
        "similar_to": result.similar_to,
        "pair_id": result.pair_id,
        "decided_by": result.decided_by,
        "reason": result.reason,
    }


def written_answer(access: Access, result: WriteResult, status: int | None = None) -> HttpResponse:
    """One write as a response, with the memory's ETag and Location."""
    body = written_out(result, relatives_of(access, [result]).get(result.memory.pk, NONE))
    headers = {"ETag": result.memory.etag, "Location": f"/api/v1/memories/{result.memory.pk}"}
    return json_answer(body, status or status_of_write(result), headers)


def relatives_of(access: Access, results: Sequence[WriteResult]) -> Mapping[UUID, Relatives]:
    """The relatives of written memories; asks the database only about memories that were there before."""
    known = {result.memory.pk: Relatives(result.superseded_id) for result in results if result.superseded_id}
    older = [result.memory for result in results if result.outcome != Outcome.CREATED]
    return {**relatives(access, older), **known} if older else known


def drafts_of(items: Sequence[Any]) -> list[MemoryDraft | HubError]:
    """Each item as a draft, or the error that says what is wrong with it."""
    parsed: list[MemoryDraft | HubError] = []
    for item in items:
        try:
            parsed.append(MemoryDraft.parse(item))
        except HubError as error:
            parsed.append(error)
    return parsed


def _within(item: str, error: HubError) -> HubError:
    """The error, its pointers from the top of the batch: what is wrong with an item is told from the item on."""
    error.errors = tuple(replace(one, pointer=item + one.pointer.rstrip("/")) for one in error.errors)
    return error


def batch_out(access: Access, request: HttpRequest, results: Sequence[WriteResult | HubError]) -> BatchOut:
    """Every item's fate."""
    written = [result for result in results if not isinstance(result, HubError)]
    prefetch_related_objects([result.memory for result in written], "bank")
    kin = relatives_of(access, written)
    shown: list[BatchWrittenOut | BatchFailedOut] = []
    for place, result in enumerate(results):
        if isinstance(result, HubError):
            item = f"/items/{place}"
            told = problem(_within(item, result), instance=f"{request.path}#{item}", request_id=request_id_of(request))
            shown.append({"index": place, "status": status_of(result), "outcome": "failed", "problem": told})
        else:
            fate = written_out(result, kin.get(result.memory.pk, NONE))
            shown.append({"index": place, "status": status_of_write(result), **fate})
    return {"results": shown}
