"""Banks over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import ApiClient


def names(api: ApiClient, query: str = "") -> list[str]:
    return [bank["name"] for bank in api.send("GET", f"/banks{query}").json()["items"]]


def test_a_vault_starts_with_seven_banks(api: ApiClient):
    """BNK-03, BNK-09: the default one first."""
    found = names(api)
    assert found[0] == "General"
    assert set(found) == {"General", "Personal", "Work", "Relationships", "Health", "Interests", "Events"}


def test_a_bank_is_created_changed_and_hidden(api: ApiClient):
    """BNK-02, BNK-13: names survive as written and are compared without case and space."""
    made = api.send("POST", "/banks", {"name": "  Home Lab ", "description": "Machines."})
    assert (made.status_code, made.json()["name"], made.json()["slug"]) == (201, "Home Lab", "home-lab")
    bank_id = made.json()["id"]
    taken = api.send("POST", "/banks", {"name": "home LAB"})
    assert (taken.status_code, taken.json()["code"]) == (409, "bank_name_taken")
    for address in (bank_id, "home-lab", "HOME%20lab"):
        assert api.send("GET", f"/banks/{address}").json()["id"] == bank_id
    assert api.send("POST", "/memories", {"content": "x", "bank": "HOME lab"}).json()["memory"]["bank"] == "Home Lab"
    renamed = api.send("PATCH", f"/banks/{bank_id}", {"name": "Lab", "isHidden": True})
    assert (renamed.status_code, renamed.json()["name"], renamed.json()["is_hidden"]) == (200, "Lab", True)
    assert "Lab" not in names(api)
    assert "Lab" in names(api, "?include_hidden=true")
    api.send("PATCH", f"/banks/{bank_id}", {"is_hidden": False})
    assert api.send("DELETE", f"/banks/{bank_id}").status_code == 204
    assert "Lab" not in names(api)
    assert api.send("DELETE", "/banks/General").status_code == 409


def test_a_memory_moves_to_another_bank(api: ApiClient):
    """BNK-10, BNK-11."""
    memory = api.send("POST", "/memories", {"content": "x", "memory_bank": "Personal"}).json()["memory"]
    api.send("PATCH", f"/memories/{memory['id']}", {"bank": "work"})
    assert api.send("GET", "/memories?bank=Personal").json()["total"] == 0
    assert [item["bank"] for item in api.send("GET", "/memories?bank=Work").json()["items"]] == ["Work"]


@pytest.mark.parametrize(
    "body",
    [{}, {"name": ""}, {"name": "  "}, {"name": "x" * 51}, {"name": 5}, {"name": "x", "slug": "y"}, {"name": None}],
)
def test_a_bank_that_is_none_is_refused(api: ApiClient, body: dict[str, Any]):
    assert api.send("POST", "/banks", body).status_code == 422
    assert len(names(api)) == 7


def test_renaming_to_an_alias_is_refused_as_creating_is(api: ApiClient):
    """CON-05, BNK-13: Hobby means Interests, for Interests itself too."""
    for method, path in (("POST", "/banks"), ("PATCH", "/banks/work"), ("PATCH", "/banks/interests")):
        refused = api.send(method, path, {"name": "Hobby"})
        assert (refused.status_code, refused.json()["code"]) == (409, "bank_name_taken")
    for name in ("\u200b", "Wo\u202erk"):
        assert api.send("PATCH", "/banks/work", {"name": name}).status_code == 422


def test_unknown_banks_are_not_found(api: ApiClient):
    for method, body in (("GET", None), ("PATCH", {"name": "y"}), ("DELETE", None)):
        assert api.send(method, "/banks/nowhere", body).status_code == 404
