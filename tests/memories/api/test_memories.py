"""Write, list, read, change and remove over HTTP: the real stack on a real database."""

from __future__ import annotations

from typing import Any

from tests.conftest import ApiClient

WRITE_FIELDS = {
    "content", "type", "bank", "category", "role", "importance", "confidence", "entities", "tags", "fact_key", "namespace",
    "scope", "user_id", "agent_id", "session_id", "task_id", "extra", "source_kind", "external_write_id", "dedup",
    "supersedes", "expires_at", "event_at", "created_at", "status", "is_protected", "vault_id",
}  # fmt: skip
READ_FIELDS = {"id", "archived", "trust", "superseded_by", "version", "updated_at"}


def write(api: ApiClient, content: str = "The hub listens on port 8000.", **more: Any) -> dict[str, Any]:
    answer = api.send("POST", "/memories", {"content": content, **more})
    assert answer.status_code in {200, 201}, answer.content
    return answer.json()["memory"]


def test_a_written_memory_comes_back_whole(api: ApiClient):
    """API-05: every write field and what the hub adds."""
    body = {
        "content": "  Alice prefers green tea.  ",
        "type": "preference",
        "bank": "personal",
        "category": "user_profile",
        "role": "human",
        "importance": 4,
        "confidence": 5,
        "entities": ["Alice", "green tea"],
        "tags": ["drinks"],
        "fact_key": "preference_tea",
        "user_id": "u-1",
        "session_id": "s-1",
        "task_id": "t-1",
        "extra": {"source": {"line": 3}},
        "external_write_id": "agent:run1:tea",
        "event_at": "2026-01-02T03:04:05Z",
        "is_protected": True,
    }
    answer = api.send("POST", "/memories", body)
    assert answer.status_code == 201
    written = answer.json()
    memory = written["memory"]
    assert set(memory) >= WRITE_FIELDS | READ_FIELDS
    assert {name: memory[name] for name in body if name not in {"content", "bank"}} == {
        name: value for name, value in body.items() if name not in {"content", "bank"}
    }
    assert (memory["content"], memory["bank"]) == ("Alice prefers green tea.", "Personal")
    assert (written["outcome"], written["duplicate_of"], written["superseded_id"]) == ("created", None, None)
    assert written["reason"]
    assert answer.headers["Location"] == f"/api/v1/memories/{memory['id']}"
    read = api.send("GET", f"/memories/{memory['id']}")
    assert read.json() == memory
    assert read.headers["ETag"] == answer.headers["ETag"] == '"v1"'
