"""Everything a list offers to choose from, counted together: labels, standing and age.

Each count leaves out its own filter, also where the search text says it. One statement counts all of it (``tally``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from banks.access import Access, KeyScope
from memories.rules.filters import MemoryFilter
from memories.search.facets import Facet, FacetValue, label_of, labelled
from memories.search.filtering import Understanding, understand
from memories.search.standing import Span, Standing
from memories.search.tally import Label, bits, flags, sampled, tallied

_STANDING = ("status", "archived", "q:status", "q:archived")
_AGE = ("created", "q:created")


@dataclass(frozen=True, slots=True)
class Survey:
    """Counts that each leave out their own filter, so that what was not chosen stays choosable."""

    facets: dict[str, list[FacetValue]]
    standing: dict[Standing, int]
    ages: dict[str, int]
    #: The labels whose counts are judged by a sample; ``standing`` and ``age`` among them.
    approximate: frozenset[str] = frozenset()
    #: How many pass every filter, where it was counted on the way.
    total: int | None = None


def survey_memories(access: Access, wanted: MemoryFilter, names: Sequence[Facet], spans: Mapping[str, Span]) -> Survey:
    """Count labels, standing and ages in one pass; in a large vault over a sample. Needs memories:read.

    Raises UnknownBank.
    """
    access.require(KeyScope.MEMORIES_READ)
    return surveyed(access, wanted, understand(access, wanted), Surveyed(names, spans))


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What is to be counted."""

    names: Sequence[Facet]
    spans: Mapping[str, Span]


def surveyed(access: Access, wanted: MemoryFilter, asked: Understanding, what: Surveyed) -> Survey:
    """The same for filters understood already."""
    labels = [
        *(label_of(name) for name in what.names),
        Label("standing", flags(each.condition for each in Standing), _STANDING, len(Standing)),
        Label("age", flags(span.condition for span in what.spans.values()), _AGE, len(what.spans) or 1),
    ]
    tallies = tallied(access, asked.parted, labels)
    counts, rounded = tallies.counts, sampled(access, labels[-1]).rounded
    standing = bits(counts["standing"], [each.value for each in Standing])
    return Survey(
        facets={name.value: labelled(asked.names, name, counts[name.value], wanted) for name in what.names},
        standing={each: rounded(standing[each.value]) for each in Standing},
        ages={name: rounded(count) for name, count in bits(counts["age"], list(what.spans)).items()},
        approximate=frozenset(label.name for label in labels if not sampled(access, label).is_exact),
        total=tallies.total,
    )
