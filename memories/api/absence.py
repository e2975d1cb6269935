"""Why a memory is not in the answer of a search."""

from __future__ import annotations

import datetime as dt
from typing import TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router
from pydantic import with_config

from banks.access import KeyScope
from banks.services.banks import UnknownBank
from memories.api.requests import ApiRequest
from memories.rules.absence import LegEvidence, Stage
from memories.rules.filters import AbsenceQuery
from memories.rules.layers import SettingInvalid
from memories.search import absence
from memories.search.asof import TooMuchChanged
from memories.search.relatives import relatives
from memoryhub.lib.answers import json_answer
from memoryhub.lib.errors import NotFound
from memoryhub.lib.openapi.shapes import shown
from memoryhub.lib.openapi.told import told

router = Router()


@with_config(shown({"score": 0.31, "rank": None, "limit": 100, "threshold": 0.4}))
class LegEvidenceOut(TypedDict):
    """What one leg says of the memory: null where it did not find it; ``limit`` candidates come from a leg."""

    score: float | None
    rank: int | None
    limit: int
    threshold: float | None


@with_config(
    shown(
        {
            "stage": "below_threshold",
            "reason": "It is not close enough in meaning, and no word is common.",
            "total": 4,
            "top_k": 10,
            "legs": {"semantic": {"score": 0.31, "rank": None, "limit": 100, "threshold": 0.4}},
            "index_state": "ready",
        }
    )
)
class AbsenceOut(TypedDict):
    """The first stage that stopped the memory, and the numbers that decided.

    ``rank`` of ``total`` is its place in the whole order, ``place`` that in the answer of ``top_k``; ``score`` and
    ``least_score`` are its own and that of the last one given out; ``filters`` names those it does not pass.
    """

    id: UUID
    stage: Stage
    reason: str
    filters: list[str]
    superseded_by: UUID | None
    place: int | None
    rank: int | None
    total: int
    top_k: int
    score: float | None
    least_score: float | None
    legs: dict[str, LegEvidenceOut]
    index_state: str
    as_of: dt.datetime | None
    degraded: list[str]


def _leg_out(leg: LegEvidence) -> LegEvidenceOut:
    return {"score": leg.score, "rank": leg.rank, "limit": leg.limit, "threshold": leg.threshold}


@router.post(
    "/memories/search/why-not",
    response=AbsenceOut,
    **told(
        "Explain why a search does not show a memory",
        KeyScope.MEMORIES_READ,
        NotFound,
        UnknownBank,
        SettingInvalid,
        TooMuchChanged,
    ),
)
def explain_absence(request: ApiRequest, query: AbsenceQuery) -> HttpResponse:
    """Where a search loses a memory, or at which place it has it: the search itself, and the `id`."""
    found = absence.explain_absence(request.access, query)
    known = found.evidence
    body: AbsenceOut = {
        "id": found.memory.pk,
        "stage": found.verdict.stage,
        "reason": found.verdict.reason,
        "filters": list(known.failed),
        "superseded_by": relatives(request.access, [found.memory])[found.memory.pk].superseded_by,
        "place": known.place,
        "rank": known.rank,
        "total": known.total,
        "top_k": query.most,
        "score": found.score,
        "least_score": found.least_score,
        "legs": {name: _leg_out(leg) for name, leg in known.legs.items()},
        "index_state": known.index_state,
        "as_of": query.as_of,
        "degraded": list(found.degraded),
    }
    return json_answer(body)
