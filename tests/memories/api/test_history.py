"""The ledger of migrations over HTTP."""

from __future__ import annotations

from tests.conftest import ApiClient


def test_the_ledger_lists_what_changed_the_store(api: ApiClient):
    """MIG-12: every schema migration that ran, with its duration."""
    items = api.send("GET", "/migrations").json()["items"]
    names = {(item["app"], item["version"]) for item in items}
    assert ("memories", "0001_initial") in names
    assert {item["state"] for item in items} == {"done"}
