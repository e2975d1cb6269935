"""Counts in one statement: the same as counting one by one, over all or over a sample."""

from __future__ import annotations

import pytest
from django.db import OperationalError, connection

from banks.access import Access
from memories.rules import sampling
from memories.rules.filters import MemoryFilter
from memories.search import listing, survey
from memories.search.facets import Facet, count_facets
from memories.search.filtering import understand
from memories.search.listing import Order, browse_memories
from memories.search.survey import Surveyed
from memories.search.tally import count_without
from tests.factories import remember

pytestmark = pytest.mark.django_db


def counted(access: Access, facet: Facet, **wanted: object) -> dict[object, int]:
    return {one.value: one.count for one in count_facets(access, MemoryFilter.parse(wanted), [facet])[facet]}


def test_all_facets_together_count_as_each_alone(access: Access):
    for n in range(12):
        remember(
            access,
            f"Sentence {n}.",
            bank=["Work", "Health"][n % 2],
            type=["fact", "task"][n % 3 == 0],
            tags=["a", f"t{n % 4}"][: n % 3],
            importance=1 + n % 5,
            user_id=f"u{n % 2}",
        )
    wanted = MemoryFilter.parse({"bank": ["Work"], "type": ["fact"], "min_importance": 2, "q": "-tag:t1"})
    together = count_facets(access, wanted, list(Facet))
    assert together == {name.value: count_facets(access, wanted, [name])[name] for name in Facet}
    assert sum(one.count for one in together[Facet.ROLE]) == browse(access, wanted).page.total


def browse(access: Access, wanted: MemoryFilter) -> listing.Browsed:
    return browse_memories(access, wanted, Order(), Surveyed([Facet.TYPE], {}))


def test_what_the_text_says_about_a_label_is_left_out_of_its_counts(access: Access):
    remember(access, "One.", type="fact")
    remember(access, "Two.", type="task")
    assert counted(access, Facet.TYPE, q="type:fact") == {"fact": 1, "task": 1}
    assert counted(access, Facet.TYPE, q="-type:fact") == {"fact": 1, "task": 1}
    assert counted(access, Facet.BANK, q="type:fact") == {"General": 1}


def test_a_large_vault_is_judged_by_a_sample(access: Access, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sampling, "EXACT_MAX", 10)
    monkeypatch.setattr(sampling, "EXACT_MANY_MAX", 10)
    monkeypatch.setattr(sampling, "SAMPLE", 10)
    for n in range(40):
        remember(access, f"Sentence {n}.", type="fact" if n % 2 else "task", tags=["a"], dedup=False)
    access.vault.refresh_from_db()
    found = survey.survey_memories(access, MemoryFilter(), [Facet.TYPE, Facet.TAG], {})
    assert found.approximate == {"type", "tag", "standing", "age"}
    assert found.total is None
    assert 32 <= sum(one.count for one in found.facets[Facet.TYPE]) <= 50
    assert 32 <= found.facets[Facet.TAG][0].count <= 50
    assert browse(access, MemoryFilter()).page.total == 40, "the list itself is counted"


def test_which_condition_is_to_blame_is_counted(access: Access):
    remember(access, "One.", type="fact", bank="Work")
    remember(access, "Two.", type="fact", bank="Health")
    asked = understand(access, MemoryFilter.parse({"type": ["task"], "bank": ["Work"], "q": "importance:3"}))
    groups = [("type",), ("bank",), ("q:importance",), ("user_id",)]
    assert count_without(access, asked.parted, groups) == [1, 0, 0, 0]


def test_a_failed_count_leaves_the_list_standing(access: Access, monkeypatch: pytest.MonkeyPatch):
    remember(access, "Here I am.")

    def fail(*given: object) -> None:
        raise OperationalError("canceling statement due to statement timeout")

    monkeypatch.setattr(listing, "surveyed", fail)
    found = browse(access, MemoryFilter())
    assert (found.survey, found.page.total, connection.in_atomic_block) == (None, 1, True)
