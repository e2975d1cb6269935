"""The filters of the list as links: each leads to the same list with one thing changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.rules.filters import Sort
from memories.rules.queryedits import can_say, conditions_on, has_condition, with_condition, without_condition
from memories.rules.vocabulary import MemoryCategory, MemoryType, SourceKind, words
from memories.search.facets import FIELDS, Facet
from memories.search.standing import FILTERS, Standing
from memories.web.asking import AGES, MANY, SIZES, SORTS
from memories.web.forms import spoken
from memories.web.querychips import query_chips

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
GROUPS = {
    Facet.TYPE: "Type",
    Facet.CATEGORY: "Category",
    Facet.AGENT: "Agent",
    Facet.SOURCE: "Source",
    Facet.IMPORTANCE: "Importance",
    Facet.TAG: "Tag",
    Facet.ENTITY: "About",
    Facet.USER: "User",
    Facet.TRUST: "Trust",
    Facet.ROLE: "Role",
}
#: Counted only when asked for: they have many values, or are seldom wanted.
MORE = (Facet.TAG, Facet.ENTITY, Facet.USER, Facet.TRUST, Facet.ROLE)
COUNTED = (Facet.BANK, *(facet for facet in GROUPS if facet not in MORE))
#: Their values where nothing could be counted.
_KNOWN: Mapping[Facet, Sequence[str]] = {
    Facet.TYPE: words(MemoryType),
    Facet.CATEGORY: words(MemoryCategory),
    Facet.SOURCE: words(SourceKind),
    Facet.IMPORTANCE: ("5", "4", "3", "2", "1"),
}
_VALUES_SHOWN = 20
#: Labels whose values somebody chose; the others are words of ours.
_NAMES = (Facet.AGENT, Facet.SESSION, Facet.USER, Facet.TAG, Facet.ENTITY)
_PREFIX = {"tag": "#", "entity": "About ", "user_id": "User ", "session_id": "Session ", "task_id": "Task "}


@dataclass(frozen=True, slots=True)
class Choice:
    """A link: where it leads, how many memories are there, whether it is chosen now.

    ``exclude_url`` leads to the list without them, or back when they are ``excluded``.
    """

    label: str
    url: str
    count: int | None = None
    selected: bool = False
    bank: Bank | None = None
    exclude_url: str = ""
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter that is on: its name in the address (``standing`` for the state), and the list without it."""

    name: str
    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Group:
    """The choices of one label."""

    name: str
    title: str
    choices: list[Choice]
    is_approximate: bool = False


@dataclass(frozen=True, slots=True)
class Offered:
    """What there is to choose from; no ``survey`` when nothing could be counted."""

    banks: list[Bank]
    survey: Survey | None

    def values(self, facet: Facet) -> list[FacetValue]:
        """The values of a label that were counted."""
        return self.survey.facets.get(facet, []) if self.survey else []

    def is_approximate(self, name: str) -> bool:
        """Whether a label was judged by a sample."""
        return self.survey is not None and name in self.survey.approximate


def counted_for(asked: Asked) -> tuple[Facet, ...]:
    """The labels to count: the usual ones, and the others when they are asked for or chosen from."""
    chosen = [facet for facet in MORE if asked.address.all(facet.value) or conditions_on(asked.wanted.q, FIELDS[facet])]
    return (*COUNTED, *(MORE if asked.address.first("more") else chosen))


def bank_tabs(asked: Asked, offered: Offered) -> list[Choice]:
    """All banks, then each that is not hidden or holds something (UI-01, BNK-12)."""
    here = asked.address.without("cursor")
    counts = {str(value.value): value.count for value in offered.values(Facet.BANK)}
    shown = (
        bank for bank in offered.banks if not bank.is_hidden or counts.get(bank.name) or here.has("bank", bank.slug)
    )
    return [
        Choice("All", str(here.without("bank")), sum(counts.values()) if counts else None, not here.all("bank")),
        *(
            Choice(
                bank.name,
                str(here.having(bank=bank.slug)),
                counts.get(bank.name, 0) if offered.survey else None,
                here.has("bank", bank.slug),
                bank,
            )
            for bank in shown
        ),
    ]


def facet_groups(asked: Asked, offered: Offered) -> list[Group]:
    """State, labels and age. The panel stays, whatever the list comes to."""
    groups = [Group("state", "State", _states(asked, offered), offered.is_approximate("standing"))]
    for facet in counted_for(asked):
        if facet in GROUPS:
            choices = _values_of(asked, facet, offered)
            groups.append(Group(facet.value, GROUPS[facet], choices, offered.is_approximate(facet.value)))
    groups.append(Group("created", "Created", _ages(asked, offered), offered.is_approximate("age")))
    return groups


def _states(asked: Asked, offered: Offered) -> list[Choice]:
    here = asked.address.without("cursor")
    now = (asked.wanted.status, asked.wanted.archived)
    return [
        Choice(
            STANDING[standing],
            str(here.without("status", "archived") if standing == Standing.ACTIVE else here.having(**_said(standing))),
            offered.survey.standing[standing] if offered.survey else None,
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


def values_of(asked: Asked, facet: Facet, values: Iterable[FacetValue]) -> list[Choice]:
    """A label's values as links that only take in, for lists without a search text."""
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


def _values_of(asked: Asked, facet: Facet, offered: Offered) -> list[Choice]:
    """A label's values as links; what is chosen or left out stays, also when nothing has it."""
    counts: dict[str, int | None] = {}
    labels: dict[str, str] = {}
    for one in offered.values(facet):
        if one.value is not None:
            counts[str(one.value)] = one.count
            labels[str(one.value)] = one.label
    if offered.survey is None:
        counts |= dict.fromkeys(_KNOWN.get(facet, ()))
    kept = [value for value in counts if _stands(asked, facet, value, labels)]
    said = [term.value for term in conditions_on(asked.wanted.q, FIELDS[facet])]
    unseen = [one for one in dict.fromkeys(said) if not _is_among(one, counts, labels)]
    shown = [*dict.fromkeys([*kept, *list(counts)[:_VALUES_SHOWN]]), *unseen]
    order = {value: place for place, value in enumerate([*counts, *unseen])}
    return [
        _value(asked, facet, (value, labels.get(value, value), counts.get(value, 0 if offered.survey else None)))
        for value in sorted(shown, key=lambda value: order[value])
    ]


def _stands(asked: Asked, facet: Facet, value: str, labels: Mapping[str, str]) -> bool:
    said = {term.value.casefold() for term in conditions_on(asked.wanted.q, FIELDS[facet])}
    return asked.address.has(facet.value, value) or bool(said & {value.casefold(), labels.get(value, "").casefold()})


def _is_among(said: str, values: Iterable[str], labels: Mapping[str, str]) -> bool:
    return said.casefold() in {name.casefold() for name in (*values, *labels.values())}


def _value(asked: Asked, facet: Facet, counted: tuple[str, str, int | None]) -> Choice:
    """One value; a filter of the address where there is one for it, else a condition in the text."""
    value, label, count = counted
    here, field, q = asked.address.without("cursor"), FIELDS[facet], asked.wanted.q
    named = label if facet == Facet.AGENT else value
    names = dict.fromkeys((named, value))

    def turned(negated: bool) -> tuple[bool, str]:
        said = [one for one in names if has_condition(q, field, one, negated=negated)]
        text = q
        for one in said:
            text = without_condition(text, field, one, negated=negated)
        return bool(said), text if said else with_condition(q, field, named, negated=negated)

    wanted, wanting = turned(negated=False)
    left_out, leaving = turned(negated=True)
    if facet.value in MANY and not wanted:
        cleared = here.having(q=without_condition(q, field, named, negated=True)) if left_out else here
        url = str(cleared.toggled(facet.value, value))
    else:
        url = str(here.having(q=wanting))
    selected = wanted or here.has(facet.value, value)
    plain = here.toggled(facet.value, value) if here.has(facet.value, value) else here
    exclude_url = str(plain.having(q=leaving)) if can_say(field, named) else ""
    shown = label if facet in _NAMES else spoken(label)
    return Choice(shown, url, count, selected, exclude_url=exclude_url, excluded=left_out)


def _ages(asked: Asked, offered: Offered) -> list[Choice]:
    here = asked.address.without("cursor", "created_after", "created_before")
    chosen = asked.address.first("age")
    counts: Mapping[str, int] = offered.survey.ages if offered.survey else {}
    return [
        Choice(label, str(here.having(age="" if age == chosen else age)), counts.get(age), age == chosen)
        for age, label in AGES.items()
    ]


def chips_of(asked: Asked, offered: Offered) -> list[Chip]:
    """What narrows the list now; each link takes one away."""
    here = asked.address.without("cursor")
    chips = []
    for name, value in here.values:
        if name == "q":
            chips += [Chip("q", *chip) for chip in query_chips(here, value)]
            continue
        label = _chip_label(name, value, offered)
        if label:
            rest = here.toggled(name, value) if name in MANY else here.without(name)
            chips.append(Chip(name, label, str(rest)))
    standing = next((one for one in Standing if FILTERS[one] == (asked.wanted.status, asked.wanted.archived)), None)
    if standing is not Standing.ACTIVE:
        label = STANDING[standing] if standing else f"{asked.wanted.status}, archived: {asked.wanted.archived}"
        chips.append(Chip("standing", label, str(here.without("status", "archived"))))
    return chips


def _chip_label(name: str, value: str, offered: Offered) -> str:
    match name:
        case "bank":
            return next((bank.name for bank in offered.banks if bank.slug == value), "")
        case "agent_id":
            return next((one.label for one in offered.values(Facet.AGENT) if str(one.value) == value), value)
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
