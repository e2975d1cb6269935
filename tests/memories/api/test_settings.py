"""Settings over HTTP."""

from __future__ import annotations

import pytest

from tests.conftest import ApiClient


def found(api: ApiClient, key: str, query: str = "") -> tuple[object, str]:
    items = {item["key"]: item for item in api.send("GET", f"/settings{query}").json()["items"]}
    return items[key]["value"], items[key]["source"]


def test_a_setting_shows_its_value_and_who_said_so(api: ApiClient):
    """CFG-02: effective value and source, changed by level, taken back with null."""
    assert found(api, "search_top_k") == (10, "default")
    changed = api.send("PATCH", "/settings", {"level": "vault", "key": "search_top_k", "value": 25})
    assert (changed.status_code, changed.json()["value"], changed.json()["source"]) == (200, 25, "vault")
    assert found(api, "search_top_k") == (25, "vault")
    api.send("PATCH", "/settings", {"level": "bank", "target": "Work", "key": "dedup_skip_threshold", "value": 0.97})
    assert found(api, "dedup_skip_threshold", "?bank=Work") == (0.97, "bank")
    assert found(api, "dedup_skip_threshold") == (0.92, "default")
    api.send("PATCH", "/settings", {"level": "vault", "key": "search_top_k", "value": None})
    assert found(api, "search_top_k") == (10, "default")


@pytest.mark.parametrize(
    "body",
    [
        {"level": "vault", "key": "no_such_key", "value": 1},
        {"level": "vault", "key": "search_top_k", "value": 0},
        {"level": "vault", "key": "search_top_k", "value": "many"},
        {"level": "galaxy", "key": "search_top_k", "value": 5},
        {"level": "system", "key": "search_top_k", "value": 5},
        {"level": "bank", "key": "dedup_skip_threshold", "value": 0.9},
        {"level": "bank", "target": "Garage", "key": "dedup_skip_threshold", "value": 0.9},
        {"level": "vault", "key": "search_top_k"},
    ],
)
def test_a_setting_that_cannot_be_is_refused(api: ApiClient, body: dict[str, object]):
    """CFG-03: unknown keys, bounds, levels and targets."""
    answer = api.send("PATCH", "/settings", body)
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"]
