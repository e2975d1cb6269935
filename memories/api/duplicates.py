"""The review list of close pairs."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router
from pydantic import Field, with_config

from banks.access import KeyScope
from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memories_out
from memories.models import DuplicatePair
from memories.rules import limits
from memories.rules.drafts import Resolution
from memories.rules.vocabulary import ActorKind, Difference, PairKind, PairState
from memories.services import duplicates
from memories.services.duplicates import PairDecided, PairOpen
from memories.services.revising import ChangedSince, DuplicateContent
from memories.services.superseding import AlreadySuperseded, TrustTooLow
from memories.services.undoing import NotUndone
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.sealing import opened
from memoryhub.lib.strict import StrictModel

router = Router()


class PairFilter(StrictModel):
    """Which pairs, and which part of them."""

    state: PairState = PairState.OPEN
    kind: PairKind | None = None
    limit: Annotated[int, Field(ge=1, le=limits.PAGE_MAX)] = 50
    cursor: str | None = None

    @property
    def kinds(self) -> tuple[PairKind, ...]:
        """The kind asked for; nothing for all of them."""
        return (self.kind,) if self.kind else ()


@with_config(shown({"similarity": 0.8712, "kind": "near", "differences": ["number"], "state": "open"}))
class PairOut(TypedDict):
    """Two memories that are close, in what their texts differ, and what was decided."""

    id: UUID
    older: MemoryOut
    newer: MemoryOut
    similarity: float
    kind: Annotated[str, Word(PairKind)]
    differences: list[Annotated[str, Word(Difference)]]
    state: Annotated[str, Word(PairState)]
    decided_by_kind: Annotated[str, Word(ActorKind)] | None
    decided_by_id: str | None
    decided_at: dt.datetime | None
    reason: str | None
    changeset_id: UUID | None
    created_at: dt.datetime


@with_config(shown({"total": 1}))
class PairList(TypedDict):
    """Newest first; ``next_cursor`` is null at the end."""

    items: list[PairOut]
    next_cursor: str | None
    total: int


def pairs_out(request: ApiRequest, pairs: list[DuplicatePair]) -> list[PairOut]:
    """Pairs with both memories in full."""
    shown = memories_out(request.access, [memory for pair in pairs for memory in (pair.older, pair.newer)])
    return [_pair_out(pair, *shown[2 * place : 2 * place + 2]) for place, pair in enumerate(pairs)]


def _pair_out(pair: DuplicatePair, older: MemoryOut, newer: MemoryOut) -> PairOut:
    return {
        "id": pair.pk,
        "older": older,
        "newer": newer,
        "similarity": round(pair.similarity, 4),
        "kind": pair.kind,
        "differences": pair.differences,
        "state": pair.state,
        "decided_by_kind": pair.decided_by_kind or None,
        "decided_by_id": pair.decided_by_id or None,
        "decided_at": pair.decided_at,
        "reason": opened(pair, "reason"),
        "changeset_id": pair.changeset_id,
        "created_at": pair.created_at,
    }


@router.get("/duplicates", response=PairList, **told("List close pairs", KeyScope.MEMORIES_READ))
def list_pairs(request: ApiRequest, wanted: Query[PairFilter]) -> HttpResponse:
    """Pairs that are close and were both kept, for a person to decide about; open ones by default."""
    page = duplicates.list_pairs(request.access, wanted.state, wanted.kinds, wanted.limit, wanted.cursor)
    return json_answer({"items": pairs_out(request, page.items), "next_cursor": page.next_cursor, "total": page.total})


@router.get("/duplicates/{pair_id}", response=PairOut, **told("Read a close pair", KeyScope.MEMORIES_READ))
def get_pair(request: ApiRequest, pair_id: str) -> HttpResponse:
    """One pair."""
    return json_answer(pairs_out(request, [duplicates.get_pair(request.access, pair_id)])[0])


@router.post(
    "/duplicates/{pair_id}/resolve",
    response=PairOut,
    **told(
        "Decide about a close pair",
        KeyScope.MEMORIES_WRITE,
        PairDecided,
        AlreadySuperseded,
        DuplicateContent,
        TrustTooLow,
    ),
)
def resolve_pair(request: ApiRequest, pair_id: str, resolution: Resolution) -> HttpResponse:
    """Keep both, merge them, let one replace the other, or say they are no duplicates; never asked again."""
    return json_answer(pairs_out(request, [duplicates.resolve_pair(request.access, pair_id, resolution)])[0])


@router.post(
    "/duplicates/{pair_id}/reopen",
    response=PairOut,
    **told(
        "Take back the decision about a pair",
        KeyScope.MEMORIES_WRITE,
        PairOpen,
        ChangedSince,
        NotUndone,
        DuplicateContent,
    ),
)
def reopen_pair(request: ApiRequest, pair_id: str) -> HttpResponse:
    """Take the decision back: memories are as they were, and the pair waits again."""
    return json_answer(pairs_out(request, [duplicates.reopen_pair(request.access, pair_id)])[0])
