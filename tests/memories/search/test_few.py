"""A question about few memories finds the same with and without their list, and lists only where they are few."""

from __future__ import annotations

from dataclasses import replace

import pytest

from banks.access import Access
from memories.index.spaces import active_space
from memories.models import MemoryIndex
from memories.rules.filters import MemoryFilter, SearchQuery
from memories.search import few
from memories.search.candidates import Allowed
from memories.search.compiled import compiled
from memories.search.few import Few, list_few
from memories.search.keywords import keyword_leg
from memories.search.meaning import Nearest, semantic_leg
from memories.search.recall import search_memories
from memoryhub.lib.blindindex import hash_query
from tests.factories import remember

WORDS = "harbour boats nets"


@pytest.fixture
def shore(access: Access) -> Access:
    """Bob's three among others', one of them long enough for several units, one without any indexed word."""
    remember(access, "The harbour is full of boats.", user_id="bob")
    remember(access, "Nets dry in the sun. " + "Gulls wait on the wall. " * 60 + "Boats come late.", user_id="bob")
    silent = remember(access, "The baker is closed.", user_id="bob")
    MemoryIndex.objects.filter(memory=silent).delete()
    for number in range(8):
        remember(access, f"Harbour boats and nets, {number} of them.", user_id="ann", dedup=False)
    return access


def rows_of(access: Access, **wanted: object) -> Allowed:
    rows = compiled(access, MemoryFilter.model_validate(wanted), version=1).rows
    assert rows is not None
    return rows


def listed(access: Access, rows: Allowed) -> Few:
    found = list_few(access, rows)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("wanted", "is_narrow"),
    [
        ({"user_id": ["bob"]}, True),
        ({"session_id": ["s"]}, True),
        ({"entity": ["Oslo"]}, True),
        ({"fact_key": "city"}, True),
        ({"external_write_id": "x"}, True),
        ({"type": ["fact"], "min_importance": 3}, False),
        ({}, False),
    ],
)
def test_what_is_narrow(access: Access, wanted: dict[str, object], is_narrow: bool):
    assert rows_of(access, **wanted).is_narrow is is_narrow


def test_the_legs_find_the_same_among_the_few(shore: Access):
    """SRC-18: filters before ranking, whichever way they are applied."""
    rows = rows_of(shore, user_id=["bob"])
    among = listed(shore, rows)
    assert len(among.memories) == 3
    terms = hash_query(shore.keys.index, WORDS)
    by_list = keyword_leg(shore, rows, terms, 50, among)
    assert by_list == keyword_leg(shore, rows, terms, 50)
    assert len(by_list.found) == 2
    space = active_space(shore.vault_id)
    assert space is not None
    vector = space.embedder.embed([WORDS])[0]
    asked = Nearest(space.space_id, list(vector), floor=-1.0, limit=50)
    near = semantic_leg(shore, rows, asked, among)
    assert near == pytest.approx(semantic_leg(shore, rows, asked))
    assert set(near) == set(among.memories)


def test_where_many_pass_nothing_is_listed(shore: Access, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(few, "FEW", 3)
    assert list_few(shore, rows_of(shore, user_id=["bob"])) is not None
    assert list_few(shore, rows_of(shore, user_id=["ann"])) is None
    query = SearchQuery.parse({"query": WORDS, "user_id": "ann", "threshold": 0})
    assert len(search_memories(shore, query).hits) == 8


def test_nothing_is_listed_for_filters_that_leave_many(shore: Access):
    assert list_few(shore, replace(rows_of(shore, user_id=["bob"]), is_narrow=False)) is None


def test_a_search_of_one_person_sees_nobody_elses(shore: Access):
    hits = search_memories(shore, SearchQuery.parse({"query": WORDS, "user_id": "bob", "threshold": 0})).hits
    assert {hit.memory.user_id for hit in hits} == {"bob"}
    assert not search_memories(shore, SearchQuery.parse({"query": WORDS, "user_id": "nobody"})).hits
