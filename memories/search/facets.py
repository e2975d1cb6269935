"""Counts per value of a label. Each facet leaves out its own filter, so that its other values stay choosable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Count, F, Func
from django.db.models.fields import CharField

from banks.access import Access, KeyScope
from banks.models import Agent, Bank
from memories.rules.filters import MemoryFilter, Presence, StatusFilter
from memories.search.filtering import matching

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
    return {name.value: _labelled(access, name, _counts(access, wanted, name), wanted) for name in dict.fromkeys(names)}


_COLUMNS: dict[Facet, Any] = {
    Facet.BANK: F("bank_id"),
    Facet.TAG: Func(F("tags"), function="unnest", output_field=CharField()),
    Facet.ENTITY: Func(F("entities"), function="unnest", output_field=CharField()),
}


def _counts(access: Access, wanted: MemoryFilter, facet: Facet) -> dict[Any, int]:
    rows = matching(access, wanted, leave_out=facet.value)
    counted = rows.order_by().annotate(label=_COLUMNS.get(facet, F(facet.value))).values("label")
    most_frequent = counted.annotate(n=Count("id")).order_by("-n", "label")
    return {row["label"]: row["n"] for row in most_frequent[:VALUES_MAX]}


def _labelled(access: Access, facet: Facet, counts: dict[Any, int], wanted: MemoryFilter) -> list[FacetValue]:
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
