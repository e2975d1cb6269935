"""A filter by nothing is refused at every door: read as no filter, it would answer about everybody."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from banks.access import Access
from banks.models import ApiKey
from memories.models import Memory, Webhook
from memories.rules.filters import MemoryFilter, SearchQuery
from memoryhub.client.calls.vault import create_key
from memoryhub.client.calls.webhooks import create_webhook
from tests.conftest import ApiClient
from tests.factories import make_webhook, remember

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


DOORS = {
    "a key's banks": ("POST", "/keys", {"name": "k", "scopes": ["memories:read"], "banks": []}, "banks"),
    "a webhook's types": ("POST", "/webhooks", {"url": "https://93.184.216.34/", "types": []}, "types"),
    "a webhook's banks": ("POST", "/webhooks", {"url": "https://93.184.216.34/", "banks": []}, "banks"),
    "a webhook's new types": ("PATCH", "/webhooks/{webhook}", {"types": []}, "types"),
    "a webhook's new banks": ("PATCH", "/webhooks/{webhook}", {"banks": []}, "banks"),
}


@pytest.mark.parametrize("method, path, body, name", DOORS.values(), ids=DOORS.keys())
def test_what_is_limited_to_nothing(
    api: ApiClient, access: Access, method: str, path: str, body: dict[str, Any], name: str
):
    """Neither everything nor nothing is meant by it: it is refused, and nothing is made or changed."""
    webhook = make_webhook(access)
    refused(api.send(method, path.replace("{webhook}", str(webhook.pk)), body), name)
    assert (ApiKey.objects.count(), Webhook.objects.count()) == (1, 1)
    webhook.refresh_from_db()
    assert (len(webhook.types) > 1, webhook.banks) == (True, None)


def test_a_limit_is_lifted_by_name(api: ApiClient, access: Access):
    """Null is no limit, as it always was."""
    webhook = make_webhook(access)
    narrow = api.send("PATCH", f"/webhooks/{webhook.pk}", {"types": ["memory.added"], "banks": ["Work"]}).json()
    assert (narrow["types"], len(narrow["banks"])) == (["memory.added"], 1)
    wide = api.send("PATCH", f"/webhooks/{webhook.pk}", {"types": None, "banks": None}).json()
    assert (len(wide["types"]) > 1, wide["banks"]) == (True, None)


def test_a_form_without_ticks_says_nothing_and_means_no_limit(browser: Client, access: Access):
    """The page says so beside the ticks; a form cannot say an empty list."""
    browser.post("/keys/", {"name": "k", "preset": "reader"})
    browser.post("/webhooks/", {"url": "https://93.184.216.34/"})
    assert ApiKey.objects.get(name="k").all_banks
    assert len(Webhook.objects.get().types) > 1


def test_the_clients_own_calls(access: Access):
    """The Python client sends what it was given: an empty list is not left out on the way."""
    bodies = [
        create_key("k", ["memories:read"], banks=[]).body or {},
        create_webhook("https://example.org/", types=[]).body or {},
    ]
    assert [bodies[0]["banks"], bodies[1]["types"]] == [[], []]
