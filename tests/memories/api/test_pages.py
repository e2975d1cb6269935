"""The query language over HTTP: what `q` finds, and how its mistakes are told."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from banks.access import Access
from memories.rules import sampling
from memories.services.lifecycle import archive_memory
from tests.conftest import ApiClient
from tests.factories import remember


def answer(api: ApiClient, q: str, more: str = "") -> dict[str, object]:
    response = api.send("GET", f"/memories?q={quote(q)}{more}")
    assert response.status_code == 200, response.content
    body: dict[str, object] = response.json()
    return body


def contents(api: ApiClient, q: str, more: str = "") -> list[str]:
    items = answer(api, q, more)["items"]
    assert isinstance(items, list)
    return [item["content"] for item in items]


def test_conditions_phrases_and_words(api: ApiClient, access: Access):
    """SRC-19, SRC-20: one text for everything a list can be asked."""
    remember(access, "Bob keeps the red wine at home.", bank="Personal", entities=["Home Lab"], tags=["drinks"])
    remember(access, "Red, the wine of the house.", bank="Personal", tags=["drinks", "tmp"])
    remember(access, "ワインは赤い。", bank="Work")
    assert contents(api, 'bank:personal tag:drinks -tag:tmp entity:"home lab" "red wine" home') == [
        "Bob keeps the red wine at home."
    ]
    assert contents(api, '"赤い"') == ["ワインは赤い。"]
    assert "query_mistakes" not in answer(api, "bank:personal wine")


def test_a_mistake_has_a_place_and_a_hint_and_the_list_goes_on(api: ApiClient, access: Access):
    """SRC-20: nothing somebody types empties the list or fails the request."""
    remember(access, "Oats in the morning.")
    body = answer(api, "banc:work oats", "&facets=type")
    assert body["total"] == 1
    assert body["query_mistakes"] == [
        {
            "message": "There is no field “banc”.",
            "start": 0,
            "end": 5,
            "hint": "Did you mean bank:work?",
            "caret": "banc:work oats\n^^^^^",
        }
    ]
    assert contents(api, 'bank:garage type:factt "oats') == ["Oats in the morning."]


def test_the_text_speaks_for_itself_unless_a_filter_was_given(api: ApiClient, access: Access):
    archive_memory(access, remember(access, "Gone.").pk)
    assert contents(api, "is:archived") == ["Gone."]
    assert contents(api, "is:archived", "&archived=false") == []


def test_pages_of_a_query_belong_together(api: ApiClient, access: Access):
    for number in range(3):
        remember(access, f"Oats number {number}.", tags=["grain"])
    first = answer(api, "tag:grain oats", "&limit=2")
    assert contents(api, "tag:grain oats", f"&limit=2&cursor={first['next_cursor']}") == ["Oats number 0."]
    assert api.send("GET", f"/memories?q=oats&limit=2&cursor={first['next_cursor']}").status_code == 400


def test_hostile_text_is_only_text(api: ApiClient, access: Access):
    """SRC-20."""
    remember(access, "Oats.")
    for q in (
        "'; DROP TABLE x; --",
        'tag:{"a"}',
        "created:9999-12-31",
        "id:' OR 1=1",
        '"' * 2_999,
        "a:b " * 900,
        "-" * 99,
    ):
        assert isinstance(answer(api, q)["items"], list)


def test_counts_say_whether_they_are_judged_by_a_sample(
    api: ApiClient, access: Access, monkeypatch: pytest.MonkeyPatch
):
    for n in range(3):
        remember(access, f"Number {n}.", tags=["a"])
    assert answer(api, "", "&facets=type,tag")["facets_approximate"] is False
    monkeypatch.setattr(sampling, "EXACT_MANY_MAX", 0)
    monkeypatch.setattr(sampling, "SAMPLE", 1)
    assert answer(api, "", "&facets=type")["facets_approximate"] is False
    assert answer(api, "", "&facets=type,tag")["facets_approximate"] is True
    assert "facets_approximate" not in answer(api, "")
