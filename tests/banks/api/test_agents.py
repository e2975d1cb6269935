"""Agents over HTTP."""

from __future__ import annotations

from tests.conftest import ApiClient


def test_an_agent_has_a_bank_of_its_own(api: ApiClient):
    """BNK-08, BNK-12: default and preferred banks by name."""
    body = {"name": "Scribe", "defaultBank": "work", "preferred_banks": ["Personal", "Work"], "isolated": False}
    made = api.send("POST", "/agents", body)
    assert made.status_code == 201, made.content
    agent = made.json()
    assert (agent["default_bank"], sorted(agent["preferred_banks"])) == ("Work", ["Personal", "Work"])
    assert api.send("POST", "/agents", {"name": "Scribe"}).status_code == 409
    assert api.send("POST", "/agents", {"name": "x", "default_bank": "Garage"}).status_code == 422
    changed = api.send("PATCH", f"/agents/{agent['id']}", {"default_bank": None, "is_isolated": True})
    assert (changed.json()["default_bank"], changed.json()["is_isolated"]) == (None, True)
    assert api.send("GET", f"/agents/{agent['id']}").json()["name"] == "Scribe"
    assert [one["name"] for one in api.send("GET", "/agents").json()["items"]] == ["Scribe"]
    assert api.send("GET", "/agents/nonsense").status_code == 404


def test_a_write_goes_where_the_key_s_agent_says(api: ApiClient):
    """BNK-01: the agent's default bank, and its id on the memory."""
    agent = api.send("POST", "/agents", {"name": "Scribe", "default_bank": "Work"}).json()
    key = api.send(
        "POST", "/keys", {"name": "k", "agent": "scribe", "scopes": ["memories:write", "memories:read"]}
    ).json()
    memory = ApiClient(key["key"]).send("POST", "/memories", {"content": "x"}).json()["memory"]
    assert (memory["bank"], memory["agent_id"]) == ("Work", agent["id"])


def test_a_retired_agent_s_keys_stop_and_its_memories_stay(api: ApiClient):
    """DELETE ends the caller, never what it remembered; its name is free again."""
    agent = api.send("POST", "/agents", {"name": "Scribe"}).json()
    scopes = ["memories:write", "memories:read"]
    key = api.send("POST", "/keys", {"name": "k", "agent": "Scribe", "scopes": scopes}).json()
    scribe = ApiClient(key["key"])
    memory = scribe.send("POST", "/memories", {"content": "x"}).json()["memory"]
    assert api.send("DELETE", f"/agents/{agent['id']}").status_code == 204
    assert scribe.send("GET", "/whoami").status_code == 401
    assert api.send("GET", f"/memories/{memory['id']}").json()["agent_id"] == agent["id"]
    assert api.send("GET", f"/agents/{agent['id']}").status_code == 404
    assert api.send("GET", "/agents").json()["items"] == []
    assert api.send("POST", "/agents", {"name": "Scribe"}).status_code == 201
