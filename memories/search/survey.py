"""Everything a list offers to choose from, counted together: labels, standing and age.

Each count leaves out its own filter. Instead of one scan for each of them there is one for all: rows are grouped by
every label and by whether they pass each filter that is left out somewhere; the few hundred groups are added up here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BooleanField, Count, ExpressionWrapper, Q

from banks.access import Access, KeyScope
from memories.rules.filters import MemoryFilter
from memories.search.facets import COLUMNS, Facet, FacetValue, labelled
from memories.search.filtering import conditions, narrowed
from memories.search.standing import Span, Standing

_STANDING, _AGE = ("status", "archived"), ("created",)


@dataclass(frozen=True, slots=True)
class Survey:
    """Counts that each leave out their own filter, so that what was not chosen stays choosable."""

    facets: dict[str, list[FacetValue]]
    standing: dict[Standing, int]
    ages: dict[str, int]


def survey_memories(access: Access, wanted: MemoryFilter, names: Sequence[Facet], spans: Mapping[str, Span]) -> Survey:
    """Count labels (those with one value a memory), standing and ages in one scan. Needs memories:read.

    Raises UnknownBank.
    """
    access.require(KeyScope.MEMORIES_READ)
    given = conditions(access, wanted)
    left_out = {*(name.value for name in names), *_STANDING, *_AGE}
    flags = {f"passes_{name}": given[name] for name in left_out if given.get(name)}
    flags |= {f"stands_{standing}": standing.condition for standing in Standing}
    flags |= {f"age_{name}": span.condition for name, span in spans.items()}
    tally = _Tally(Counter(), Counter(), {name: Counter() for name in names})
    for cell in _cells(narrowed(access, given, left_out), names, flags):
        tally.add(cell)
    return Survey(
        facets={name.value: labelled(access, name, tally.facets[name], wanted) for name in names},
        standing={standing: tally.standing[standing.value] for standing in Standing},
        ages={name: tally.ages[name] for name in spans},
    )


def _cells(rows: Any, names: Sequence[Facet], flags: Mapping[str, Q]) -> Iterable[dict[str, Any]]:
    """One row for each combination there is: the labels, the flags, and how many memories have them (``n``)."""
    known = {name: ExpressionWrapper(condition, BooleanField()) for name, condition in flags.items()}
    labels = {f"label_{name}": COLUMNS[name] for name in names}
    grouped = rows.order_by().annotate(**labels, **known).values(*labels, *known)
    found: Iterable[dict[str, Any]] = grouped.annotate(n=Count("id"))
    return found


@dataclass(frozen=True, slots=True)
class _Tally:
    """The sums so far."""

    standing: Counter[str]
    ages: Counter[str]
    facets: dict[Facet, Counter[Any]]

    def add(self, cell: Mapping[str, Any]) -> None:
        """Count a cell wherever the only filters it fails are left out."""
        count = cell["n"]
        fails = {name.removeprefix("passes_") for name, flag in cell.items() if name.startswith("passes_") and not flag}
        for name, values in self.facets.items():
            if fails <= {name.value}:
                values[cell[f"label_{name}"]] += count
        if fails <= {*_STANDING}:
            self.standing.update(dict.fromkeys(_true(cell, "stands_"), count))
        if fails <= {*_AGE}:
            self.ages.update(dict.fromkeys(_true(cell, "age_"), count))


def _true(cell: Mapping[str, Any], prefix: str) -> list[str]:
    return [name.removeprefix(prefix) for name, flag in cell.items() if flag and name.startswith(prefix)]
