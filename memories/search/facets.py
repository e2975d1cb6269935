"""Counts per value of a label. Each facet leaves out its own filter, so that its other values stay choosable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import F

from banks.access import Access, KeyScope
from memories.rules.filters import MemoryFilter, Presence, StatusFilter
from memories.rules.sampling import Sampling, sampling_of
from memories.search.filtering import understand
from memories.search.names import Names
from memories.search.tally import Label, tallied

VALUES_MAX = 50


class Facet(StrEnum):
    """Labels that can be counted."""

    BANK = "bank"
    TYPE = "type"
    CATEGORY = "category"
    ROLE = "role"
    STATUS = "status"
    AGENT = "agent_id"
    USER = "user_id"
    SESSION = "session_id"
    IMPORTANCE = "importance"
    CONFIDENCE = "confidence"
    TRUST = "trust"
    SOURCE = "source_kind"
    TAG = "tag"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class FacetValue:
    """One value with how many memories have it; ``label`` is for people, ``value`` for the filter."""

    value: str | int | None
    label: str
    count: int
    selected: bool


def count_facets(access: Access, wanted: MemoryFilter, names: Sequence[Facet]) -> dict[str, list[FacetValue]]:
    """Facet → its values, most frequent first, at most 50; chosen values are always among them. Needs memories:read.

    All are counted in one pass; in a large vault over a sample (``rules.sampling``). Raises UnknownBank.
    """
    access.require(KeyScope.MEMORIES_READ)
    facets = list(dict.fromkeys(names))
    asked = understand(access, wanted)
    counts = tallied(access, asked.parted, [label_of(facet) for facet in facets]).counts
    return {facet.value: labelled(asked.names, facet, counts[facet.value], wanted) for facet in facets}


COLUMNS: dict[Facet, Any] = {**{facet: F(facet.value) for facet in Facet}, Facet.BANK: F("bank_id")}
COLUMNS |= {Facet.TAG: F("tags"), Facet.ENTITY: F("entities")}
MANY = frozenset({Facet.TAG, Facet.ENTITY})
#: What the query language calls a facet, where it has a name for it.
FIELDS: Mapping[Facet, str] = {
    **{facet: facet.value for facet in Facet if facet != Facet.CONFIDENCE},
    Facet.AGENT: "agent",
    Facet.USER: "user",
    Facet.SESSION: "session",
    Facet.SOURCE: "source",
}
#: About how many values they have; what nobody can know is counted apart from the others.
_SIZES: Mapping[Facet, int] = {
    Facet.BANK: 12,
    Facet.AGENT: 24,
    Facet.STATUS: 3,
    Facet.USER: 48,
    Facet.SESSION: 100_000,
}
_LIMITS: Mapping[Facet, str] = {Facet.IMPORTANCE: "min_importance", Facet.TRUST: "min_trust"}


def label_of(facet: Facet) -> Label:
    """The facet as what is counted: its column, and every filter that narrows by it."""
    own = [facet.value, *([_LIMITS[facet]] if facet in _LIMITS else [])]
    own += [f"q:{FIELDS[facet]}"] if facet in FIELDS else []
    return Label(facet.value, COLUMNS[facet], tuple(own), _SIZES.get(facet, 6), is_many=facet in MANY)


def sampling_of_facet(access: Access, facet: Facet) -> Sampling:
    """Whether the caller's vault is looked at whole for the counts of a facet, or in a sample."""
    return sampling_of(access.vault.next_doc_no, facet in MANY)


# What a value is when it is not text.
_PARSED: dict[str, Callable[[str], Any]] = {Facet.BANK: UUID, Facet.IMPORTANCE: int, Facet.CONFIDENCE: int}


def labelled(names: Names, facet: Facet, tally: Mapping[str | None, int], wanted: MemoryFilter) -> list[FacetValue]:
    """Value → count as people see it, the most frequent first; chosen values are always among them."""
    parsed = _PARSED.get(facet, str)
    counts: dict[Any, int] = {None if value is None else parsed(value): count for value, count in tally.items()}
    counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0] is None, str(item[0])))[:VALUES_MAX])
    chosen = _chosen(facet, wanted)
    if facet == Facet.BANK:
        banks = {bank.pk: bank.name for bank in names.banks}
        counts = {banks[bank_id]: count for bank_id, count in counts.items()}
        chosen = {next((name for name in banks.values() if name.casefold() == one.casefold()), one) for one in chosen}
    labels = names.agents if facet == Facet.AGENT else {}
    sampling = sampling_of_facet(names.access, facet)
    shown = {**counts, **{value: 0 for value in sorted(chosen) if value not in counts}}
    return [
        FacetValue(
            value,
            labels.get(value, "none" if value is None else str(value)),
            sampling.rounded(count),
            str(value) in chosen,
        )
        for value, count in shown.items()
    ]


def _chosen(facet: Facet, wanted: MemoryFilter) -> set[str]:
    value = getattr(wanted, facet.value, None)
    if isinstance(value, StatusFilter | Presence):
        return {value.value}
    return {str(one) for one in value} if isinstance(value, list) else set()
