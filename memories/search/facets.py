"""Counts per value of a label. Each facet leaves out its own filter, so that its other values stay choosable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Any
from uuid import UUID

from django.db.models import CharField, Count, F, Func, TextField, Value
from django.db.models.functions import Cast

from banks.access import Access, KeyScope
from banks.models import Agent, Bank
from memories.rules.filters import MemoryFilter, Presence, StatusFilter
from memories.search.filtering import Conditions, conditions, narrowed

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
    """Facet → its values, most frequent first, at most 50; chosen values are always among them. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    return facets_of(access, wanted, conditions(access, wanted), names)


def facets_of(
    access: Access, wanted: MemoryFilter, given: Conditions, names: Sequence[Facet]
) -> dict[str, list[FacetValue]]:
    """The same for conditions made already; all facets are counted in one query."""
    counts = _counts(access, given, list(dict.fromkeys(names)))
    return {name: labelled(access, Facet(name), counted, wanted) for name, counted in counts.items()}


COLUMNS: dict[Facet, Any] = {
    **{facet: F(facet.value) for facet in Facet},
    Facet.BANK: F("bank_id"),
    Facet.TAG: Func(F("tags"), function="unnest", output_field=CharField()),
    Facet.ENTITY: Func(F("entities"), function="unnest", output_field=CharField()),
}


def _counts(access: Access, given: Conditions, names: Sequence[Facet]) -> dict[str, dict[Any, int]]:
    counts: dict[str, dict[Any, int]] = {name.value: {} for name in names}
    parts = [_counted(access, given, name) for name in names]
    rows = parts[0].union(*parts[1:], all=True).order_by() if len(parts) > 1 else chain.from_iterable(parts)
    for facet, label, count in rows:
        counts[facet][None if label is None else _PARSED.get(facet, str)(label)] = count
    return counts


def _counted(access: Access, given: Conditions, facet: Facet) -> Any:
    """(facet, value as text, count) of the most frequent values, every other filter applied."""
    rows = narrowed(access, given, leave_out=[facet.value]).order_by()
    labelled = rows.annotate(facet=Value(facet.value, TextField()), label=Cast(COLUMNS[facet], TextField()))
    counted = labelled.values_list("facet", "label").annotate(n=Count("id"))
    return counted.order_by("-n", "label")[:VALUES_MAX]


# What a value is when it is not text.
_PARSED: dict[str, Callable[[str], Any]] = {Facet.BANK: UUID, Facet.IMPORTANCE: int, Facet.CONFIDENCE: int}


def labelled(access: Access, facet: Facet, counts: Mapping[Any, int], wanted: MemoryFilter) -> list[FacetValue]:
    """Value → count as people see it, the most frequent first; chosen values are always among them."""
    counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0] is None, str(item[0])))[:VALUES_MAX])
    chosen = _chosen(facet, wanted)
    if facet == Facet.BANK:
        names = {bank.pk: bank.name for bank in Bank.objects.filter(vault_id=access.vault_id)}
        counts = {names[bank_id]: count for bank_id, count in counts.items()}
        chosen = {next((name for name in names.values() if name.casefold() == one.casefold()), one) for one in chosen}
    labels: dict[Any, str] = {}
    if facet == Facet.AGENT:
        labels = {str(agent.pk): agent.name for agent in Agent.objects.filter(vault_id=access.vault_id)}
    shown = {**counts, **{value: 0 for value in sorted(chosen) if value not in counts}}
    return [
        FacetValue(value, labels.get(value, "none" if value is None else str(value)), count, str(value) in chosen)
        for value, count in shown.items()
    ]


def _chosen(facet: Facet, wanted: MemoryFilter) -> set[str]:
    value = getattr(wanted, facet.value, None)
    if isinstance(value, StatusFilter | Presence):
        return {value.value}
    return {str(one) for one in value} if isinstance(value, list) else set()
