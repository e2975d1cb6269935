"""“Why not?”: what became of one memory in the search that the lab just made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from memories.rules.filters import AbsenceQuery
from memories.search.absence import explain_absence
from memories.web.labresult import LEGS, Number, number
from memories.web.rows import opened
from memoryhub.lib.errors import Invalid, NotFound

if TYPE_CHECKING:
    from banks.access import Access
    from memories.rules.absence import LegEvidence
    from memories.rules.filters import SearchQuery

_ID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


@dataclass(frozen=True, slots=True)
class LegLine:
    """What one leg says of it."""

    label: str
    score: Number | None
    threshold: Number | None
    rank: int | None
    limit: int


@dataclass(frozen=True, slots=True)
class AbsenceShown:
    """The verdict; ``problem`` stands alone where there is none."""

    problem: str = ""
    reason: str = ""
    is_there: bool = False
    url: str = ""
    text: str | None = None
    rank: int | None = None
    total: int = 0
    legs: tuple[LegLine, ...] = ()


def absence_of(access: Access, query: SearchQuery, about: str) -> AbsenceShown:
    """What became of the memory whose id, or address, ``about`` holds. Never raises."""
    ids = _ID.findall(about)
    if not ids:
        return AbsenceShown(
            problem=f"There is no id of a memory in “{about[:80]}”. Paste one, or the address of its page."
        )
    given = {name: getattr(query, name) for name in query.model_fields_set}
    try:
        found = explain_absence(access, AbsenceQuery.model_validate({**given, "id": ids[-1]}))
    except (NotFound, Invalid) as error:
        return AbsenceShown(problem=error.message)
    known = found.evidence
    return AbsenceShown(
        reason=found.verdict.reason,
        is_there=known.place is not None,
        url=reverse("memory", args=[found.memory.pk]),
        text=opened(found.memory),
        rank=known.rank,
        total=known.total,
        legs=tuple(_line(name, leg) for name, leg in known.legs.items()),
    )


def _line(name: str, leg: LegEvidence) -> LegLine:
    return LegLine(
        label=LEGS.get(name, name),
        score=None if leg.score is None else number(leg.score),
        threshold=None if leg.threshold is None else number(leg.threshold),
        rank=leg.rank,
        limit=leg.limit,
    )
