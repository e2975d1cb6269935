"""Counts of memories on pages of those who know nothing of memories: the frame and the banks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import template
from django.urls import reverse
from django.utils.http import urlencode

from memories.rules.filters import MemoryFilter, Presence, StatusFilter
from memories.search.callers import NOTHING, BankUse, Doings, doings_of_agents, doings_of_keys, use_of_banks
from memories.search.facets import Facet, count_facets
from memories.search.standing import FILTERS, Standing, count_standing
from memories.services.reviewing import Waiting, count_waiting

if TYPE_CHECKING:
    from uuid import UUID

    from django.template import Context

    from banks.models import Bank

register = template.Library()

_TILES = (
    (Standing.ACTIVE, "Active", "circle-check"),
    (Standing.DRAFTS, "Drafts", "file-pen"),
    (Standing.ARCHIVED, "Archived", "archive"),
    (Standing.DISCARDED, "Discarded", "ban"),
)


@register.simple_tag(takes_context=True)
def bank_counts(context: Context) -> dict[str, int]:
    """Name of a bank → its memories that agents recall."""
    found = count_facets(context["request"].access, MemoryFilter(), [Facet.BANK])[Facet.BANK]
    return {str(value.value): value.count for value in found}


@register.simple_tag(takes_context=True)
def waiting_count(context: Context) -> int:
    """How much waits in the review queue; a page that has counted already is not asked again."""
    known = context.get("waiting")
    return known.total if isinstance(known, Waiting) else count_waiting(context["request"].access).total


@register.simple_tag(takes_context=True)
def key_doings(context: Context) -> dict[str, Doings]:
    """Key id → what it did lately."""
    return doings_of_keys(context["request"].access)


@register.simple_tag(takes_context=True)
def agent_doings(context: Context) -> dict[str, Doings]:
    """Agent id → what its keys did lately."""
    return doings_of_agents(context["request"].access)


@register.simple_tag(takes_context=True)
def bank_use(context: Context) -> dict[UUID, BankUse]:
    """Bank id → its last write and recall."""
    return use_of_banks(context["request"].access)


@register.filter
def done_by(doings: dict[str, Doings], who: Bank) -> Doings:
    """What one key or agent did."""
    return doings.get(str(who.pk), NOTHING)


@register.filter
def used(uses: dict[UUID, BankUse], bank: Bank) -> BankUse:
    """How one bank was used."""
    return uses.get(bank.pk, BankUse())


@register.filter
def of(counts: dict[str, int], bank: Bank) -> int:
    """The count of one bank."""
    return counts.get(bank.name, 0)


@register.simple_tag(takes_context=True)
def states_of_bank(context: Context, bank: Bank) -> list[dict[str, Any]]:
    """What is in one bank, each count with the list it leads to."""
    counts = count_standing(context["request"].access, MemoryFilter(bank=[bank.name]))
    return [
        {"label": label, "icon": icon, "count": counts[standing], "url": list_url(standing, bank)}
        for standing, label, icon in _TILES
    ]


def list_url(standing: Standing, bank: Bank) -> str:
    """The list of one bank's memories that stand so."""
    status, archived = FILTERS[standing]
    query = {"bank": bank.slug}
    if status != StatusFilter.ACCEPTED:
        query["status"] = status.value
    if archived != Presence.FALSE:
        query["archived"] = archived.value
    return f"{reverse('memories')}?{urlencode(query)}"
