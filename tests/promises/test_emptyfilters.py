"""A filter by nothing is refused at every door: read as no filter, it would answer about everybody."""

from __future__ import annotations

from typing import Any

import pytest

from banks.access import Access
from memories.models import Memory
from memories.rules.filters import MemoryFilter, SearchQuery
from tests.conftest import ApiClient
from tests.factories import remember

#: Filters that take several values, by the names of the list and by those of a search.
LISTED = [name for name, field in MemoryFilter.model_fields.items() if field.default == []]
SEARCHED = [name for name, field in SearchQuery.model_fields.items() if field.default == []]


def refused(answer: Any, name: str, at: str = "") -> None:
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["pointer"], error["code"]) == (422, f"{at}/{name}", "names_nothing")
    assert "leave it out" in error["detail"]


def test_every_filter_of_several_values_is_tried():
    assert {"bank", "user_id", "session_id", "tag", "entity", "type"} < set(LISTED)
    assert {"banks", "user_id", "session_id", "tag", "entity", "type"} < set(SEARCHED)


@pytest.mark.parametrize("name", SEARCHED)
@pytest.mark.parametrize("path", ["search", "context", "search/why-not"])
def test_searches(api: ApiClient, access: Access, path: str, name: str):
    more = {"id": str(remember(access).pk)} if path == "search/why-not" else {}
    refused(api.send("POST", f"/memories/{path}", {"query": "tea", name: [], **more}), name)


@pytest.mark.parametrize("name", LISTED)
def test_a_bulk_change_touches_nobody(api: ApiClient, access: Access, name: str):
    remember(access)
    body = {"action": "archive", "query": {name: []}, "expected_count": 1}
    refused(api.send("POST", "/memories/bulk", body), name, "/query")
    assert Memory.objects.get().archived_at is None


@pytest.mark.parametrize("name", ["bank", "user_id", "tag", "entity"])
def test_an_empty_value_in_an_address(api: ApiClient, access: Access, name: str):
    """An address cannot say an empty list; the empty text it can say is no name of anybody."""
    remember(access)
    assert api.send("GET", f"/memories?{name}=").status_code == 422


def test_by_another_name(api: ApiClient):
    refused(api.send("POST", "/memories/search", {"query": "tea", "bank": []}), "banks")
    refused(api.send("POST", "/memories/search", {"query": "tea", "userId": []}), "user_id")
    assert api.send("POST", "/memories/search", {"query": "tea", "namespace": []}).status_code == 422


def test_one_value_and_none_at_all_are_as_they_were(api: ApiClient, access: Access):
    remember(access, "Mara likes tea", user_id="mara")
    for body, count in (({"user_id": "mara"}, 1), ({"user_id": ["tom"]}, 0), ({}, 1)):
        assert len(api.send("POST", "/memories/search", {"query": "tea", **body}).json()["results"]) == count
