"""Revisions and links over HTTP."""

from __future__ import annotations

from tests.conftest import ApiClient
from tests.memories.api.test_memories import write


def test_the_history_of_a_memory(api: ApiClient):
    """MIG-13: what it was, who changed it, and why."""
    memory = write(api, "Version one.")
    path = f"/memories/{memory['id']}"
    assert api.send("GET", f"{path}/revisions").json() == {"items": []}
    api.send("PATCH", path, {"content": "Version two.", "importance": 5, "reason": "it moved"})
    (revision,) = api.send("GET", f"{path}/revisions").json()["items"]
    assert (revision["version"], revision["action"], revision["reason"]) == (1, "update_memory", "it moved")
    assert revision["before"]["content"] == "Version one."
    assert revision["changed"] == ["content", "importance"]
    assert revision["actor_kind"] == "key"


def test_links_between_memories(api: ApiClient):
    """MOD-41: typed links; `supersedes` has its own verb."""
    one, two = write(api, "One."), write(api, "Two.")
    made = api.send("POST", f"/memories/{one['id']}/links", {"target_id": two["id"], "relation": "refines"})
    assert made.status_code == 201
    again = api.send("POST", f"/memories/{one['id']}/links", {"targetId": two["id"], "relation": "refines"})
    assert again.json()["id"] == made.json()["id"]
    for memory in (one, two):
        (link,) = api.send("GET", f"/memories/{memory['id']}/links").json()["items"]
        assert (link["source_id"], link["target_id"], link["relation"]) == (one["id"], two["id"], "refines")
    for body in (
        {"target_id": two["id"], "relation": "supersedes"},
        {"target_id": one["id"], "relation": "related"},
        {"target_id": two["id"], "relation": "likes"},
        {"relation": "related"},
    ):
        assert api.send("POST", f"/memories/{one['id']}/links", body).status_code == 422
    assert api.send("POST", f"/memories/{one['id']}/links", {"target_id": "nonsense"}).status_code == 404


def test_a_memory_alone_is_its_own_chain(api: ApiClient):
    memory = write(api)
    chain = api.send("GET", f"/memories/{memory['id']}/chain").json()
    assert (chain["items"], chain["head_id"]) == ([memory], memory["id"])
