"""Counts offered beside a list: right, self-excluding, of this vault only, and in a fixed number of queries."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from banks.access import Access
from memories.rules.filters import MemoryFilter
from memories.search.facets import Facet
from memories.search.standing import Span, Standing
from memories.search.survey import survey_memories
from memories.services.lifecycle import archive_memory
from tests.factories import remember

pytestmark = pytest.mark.django_db
FACETS = (Facet.BANK, Facet.TYPE, Facet.AGENT, Facet.IMPORTANCE)


def counts(access: Access, facet: Facet, **wanted: object) -> dict[object, int]:
    found = survey_memories(access, MemoryFilter.parse(wanted), FACETS, {}).facets[facet]
    return {value.value: value.count for value in found}


def test_labels_are_counted_as_what_they_are(access: Access, other_access: Access):
    remember(access, "One.", bank="Work", importance=4, tags=["a", "b"])
    remember(access, "Two.", bank="Work", type="task", importance=4)
    remember(other_access, "Theirs.", bank="Work", importance=4)
    assert counts(access, Facet.BANK) == {"Work": 2}
    assert counts(access, Facet.TYPE) == {"fact": 1, "task": 1}
    assert counts(access, Facet.IMPORTANCE) == {4: 2}
    assert counts(access, Facet.AGENT) == {None: 2}


def test_each_leaves_out_its_own_filter_only(access: Access):
    remember(access, "One.", bank="Work", type="fact")
    remember(access, "Two.", bank="Work", type="task")
    remember(access, "Three.", bank="Health", type="task")
    assert counts(access, Facet.TYPE, bank="Work", type="task") == {"fact": 1, "task": 1}
    assert counts(access, Facet.BANK, bank="Work", type="task") == {"Work": 1, "Health": 1}


def test_standing_and_ages(access: Access):
    archive_memory(access, remember(access, "Gone.").pk)
    remember(access, "Waiting.", status="draft")
    remember(access, "Here.")
    remember(access, "Here for long.", created_at="2020-01-01T00:00:00Z")
    edge = dt.datetime(2021, 1, 1, tzinfo=dt.UTC)
    found = survey_memories(access, MemoryFilter(), FACETS, {"new": Span(edge), "old": Span(before=edge)})
    assert found.standing == {
        Standing.ACTIVE: 2,
        Standing.DRAFTS: 1,
        Standing.ARCHIVED: 1,
        Standing.DISCARDED: 0,
        Standing.ALL: 4,
    }
    assert found.ages == {"new": 1, "old": 1}


def test_more_facets_cost_no_more_queries(access: Access):
    remember(access, "One.", bank="Work")

    def cost(*facets: Facet) -> int:
        with CaptureQueriesContext(connection) as asked:
            survey_memories(access, MemoryFilter(bank=["Work"], q="one"), facets, {})
        return len(asked)

    assert cost(Facet.TYPE, Facet.CATEGORY, Facet.ROLE, Facet.TRUST) == cost(Facet.TYPE)
