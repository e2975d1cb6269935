"""The filters of the list as links: each leads to the same list with one thing changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.rules.filters import Sort
from memories.search.facets import Facet
from memories.search.standing import FILTERS, Standing
from memories.web.asking import AGES, MANY, SIZES, SORTS
from memories.web.forms import spoken
from memories.web.querychips import query_chips

if TYPE_CHECKING:
    from banks.models import Bank
    from memories.search.facets import FacetValue
    from memories.search.survey import Survey
    from memories.web.asking import Asked

STANDING = {
    Standing.ACTIVE: "Active",
    Standing.DRAFTS: "Drafts",
    Standing.ARCHIVED: "Archived",
    Standing.DISCARDED: "Discarded",
    Standing.ALL: "Everything",
}
GROUPS = ((Facet.TYPE, "Type"), (Facet.CATEGORY, "Category"), (Facet.AGENT, "Agent"))
#: Labels whose values somebody chose; the others are words of ours.
_NAMES = (Facet.AGENT, Facet.SESSION, Facet.USER)
_PREFIX = {"tag": "#", "entity": "About ", "user_id": "User ", "session_id": "Session ", "task_id": "Task "}


@dataclass(frozen=True, slots=True)
class Choice:
    """A link: where it leads, how many memories are there, whether it is chosen now."""

    label: str
    url: str
    count: int | None = None
    selected: bool = False
    bank: Bank | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """The choices of one label."""

    name: str
    title: str
    choices: list[Choice]


@dataclass(frozen=True, slots=True)
class Offered:
    """What there is to choose from."""

    banks: list[Bank]
    survey: Survey

    @property
    def facets(self) -> dict[str, list[FacetValue]]:
        """The labels."""
        return self.survey.facets


def bank_tabs(asked: Asked, offered: Offered) -> list[Choice]:
    """All banks, then each that is not hidden or holds something (UI-01)."""
    here = asked.address.without("cursor")
    counts = {str(value.value): value.count for value in offered.facets[Facet.BANK]}
    every = Choice("All", str(here.without("bank")), sum(counts.values()), not here.all("bank"))
    shown = (
        bank for bank in offered.banks if not bank.is_hidden or counts.get(bank.name) or here.has("bank", bank.slug)
    )
    return [
        every,
        *(
            Choice(
                bank.name, str(here.having(bank=bank.slug)), counts.get(bank.name, 0), here.has("bank", bank.slug), bank
            )
            for bank in shown
        ),
    ]


def facet_groups(asked: Asked, offered: Offered) -> list[Group]:
    """State, labels and age; a group without any choice is left out."""
    groups = [Group("state", "State", _states(asked, offered))]
    groups += [Group(facet.value, title, values_of(asked, facet, offered.facets[facet])) for facet, title in GROUPS]
    groups.append(Group("created", "Created", _ages(asked, offered)))
    return [group for group in groups if group.choices]


def _states(asked: Asked, offered: Offered) -> list[Choice]:
    here = asked.address.without("cursor")
    now = (asked.wanted.status, asked.wanted.archived)
    return [
        Choice(
            STANDING[standing],
            str(here.without("status", "archived") if standing == Standing.ACTIVE else here.having(**_said(standing))),
            offered.survey.standing[standing],
            FILTERS[standing] == now,
        )
        for standing in Standing
    ]


def _said(standing: Standing) -> dict[str, str]:
    """The part of the address that means it; what is the default stays unsaid."""
    status, archived = FILTERS[standing]
    return {
        "status": "" if status == FILTERS[Standing.ACTIVE][0] else status.value,
        "archived": "" if archived == FILTERS[Standing.ACTIVE][1] else archived.value,
    }


def values_of(asked: Asked, facet: Facet, values: list[FacetValue]) -> list[Choice]:
    """A label's values as links."""
    here = asked.address.without("cursor")
    return [
        Choice(
            value.label if facet in _NAMES else spoken(value.label),
            str(here.toggled(facet.value, str(value.value))),
            value.count,
            value.selected,
        )
        for value in values
        if value.value is not None
    ]


def _ages(asked: Asked, offered: Offered) -> list[Choice]:
    here = asked.address.without("cursor", "created_after", "created_before")
    chosen = asked.address.first("age")
    return [
        Choice(label, str(here.having(age="" if age == chosen else age)), offered.survey.ages[age], age == chosen)
        for age, label in AGES.items()
    ]


def chips_of(asked: Asked, offered: Offered) -> list[Choice]:
    """What narrows the list now; each link takes one away."""
    here = asked.address.without("cursor")
    chips = []
    for name, value in here.values:
        if name == "q":
            chips += [Choice(*chip) for chip in query_chips(here, value)]
            continue
        label = _chip_label(name, value, offered)
        if label:
            rest = here.toggled(name, value) if name in MANY else here.without(name)
            chips.append(Choice(label, str(rest)))
    standing = next((one for one in Standing if FILTERS[one] == (asked.wanted.status, asked.wanted.archived)), None)
    if standing is not Standing.ACTIVE:
        label = STANDING[standing] if standing else f"{asked.wanted.status}, archived: {asked.wanted.archived}"
        chips.append(Choice(label, str(here.without("status", "archived"))))
    return chips


def _chip_label(name: str, value: str, offered: Offered) -> str:
    match name:
        case "bank":
            return next((bank.name for bank in offered.banks if bank.slug == value), "")
        case "agent_id":
            return next((one.label for one in offered.facets[Facet.AGENT] if str(one.value) == value), value)
        case "type" | "category" | "role" | "source_kind":
            return spoken(value)
        case "confidence":
            return f"Confidence {value}"
        case "age":
            return AGES.get(value, "")
        case "created_after" | "created_before":
            return f"{'From' if name == 'created_after' else 'Before'} {value}"
        case "min_importance":
            return f"Importance {value} and up"
        case "tag" | "entity" | "user_id" | "session_id" | "task_id":
            return _PREFIX[name] + value
        case _:
            return ""


def orders_of(asked: Asked) -> list[Choice]:
    """The orders there are."""
    here = asked.address.without("cursor")
    return [
        Choice(label, str(here.having(sort="" if sort == Sort.NEWEST else sort.value)), selected=sort == asked.sort)
        for sort, label in SORTS.items()
    ]


def sizes_of(asked: Asked) -> list[Choice]:
    """How many memories a page may have."""
    here = asked.address.without("cursor")
    return [
        Choice(str(size), str(here.having(limit="" if size == SIZES[0] else str(size))), selected=size == asked.limit)
        for size in SIZES
    ]
