"""Everything a list offers to choose from, counted together: labels, standing and age."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from banks.access import Access, KeyScope
from memories.rules.filters import MemoryFilter
from memories.search.facets import Facet, FacetValue, facets_of
from memories.search.filtering import conditions
from memories.search.standing import Span, Standing, ages_of, standing_of


@dataclass(frozen=True, slots=True)
class Survey:
    """Counts that each leave out their own filter, so that what was not chosen stays choosable."""

    facets: dict[str, list[FacetValue]]
    standing: dict[Standing, int]
    ages: dict[str, int]


def survey_memories(
    access: Access, wanted: MemoryFilter, names: Sequence[Facet], spans: Mapping[str, Span]
) -> Survey:
    """Count labels, standing and ages in three scans. Needs memories:read. Raises UnknownBank."""
    access.require(KeyScope.MEMORIES_READ)
    given = conditions(access, wanted)
    return Survey(
        facets=facets_of(access, wanted, given, names),
        standing=standing_of(access, given),
        ages=ages_of(access, given, spans),
    )
