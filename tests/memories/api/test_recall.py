"""Search and read over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import ApiClient


@pytest.fixture
def remembered(api: ApiClient) -> dict[str, str]:
    """Content → id."""
    items: list[dict[str, Any]] = [
        {"content": "Alice prefers green tea in the morning.", "type": "preference", "bank": "Personal"},
        {"content": "The deployment runs on Kubernetes 1.31.", "type": "fact", "bank": "Work", "importance": 5},
        {"content": "Rollbacks take four minutes.", "type": "skill", "bank": "Work", "category": "episodic"},
    ]
    answer = api.send("POST", "/memories/batch", {"items": items})
    return {one["memory"]["content"]: one["memory"]["id"] for one in answer.json()["results"]}


def search(api: ApiClient, **query: Any) -> dict[str, Any]:
    answer = api.send("POST", "/memories/search", query)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_a_search_finds_and_says_why(api: ApiClient, remembered: dict[str, str]):
    """API-06: scores by leg, and with `explain` how they add up."""
    answer = search(api, query="which tea does Alice drink?", explain=True)
    best = answer["results"][0]
    assert best["id"] == remembered["Alice prefers green tea in the morning."]
    assert best["score"] > 0
    assert {"semantic", "keyword"} <= set(best["scores"])
    assert sum(leg["contribution"] for leg in best["explain"].values()) == pytest.approx(best["score"])
    assert best["explain"]["keyword"]["rank"] == 1
    assert (answer["degraded"], answer["unreadable"]) == ([], 0)
    assert answer["took_ms"] > 0
    assert {"name", "ms", "in", "out"} == set(answer["trace"][0])
    assert search(api, query="tea")["trace"] is None
    for field in ("external_write_id", "bank", "type", "category", "importance", "confidence", "trust", "created_at"):
        assert field in best


def test_the_seeds_names_and_filters(api: ApiClient, remembered: dict[str, str]):
    """API-06, SRC-01, SRC-09, SRC-10, SRC-11, SRC-14, MOD-11, MOD-12, STA-06: the names work; filters are AND-ed."""
    (hit,) = search(api, query="kubernetes rollbacks minutes", topK=1, compact=True)["results"]
    assert "content" not in hit
    assert hit["summary"]
    found = search(api, query="kubernetes rollbacks minutes", memoryType="skill", threshold=0.0)["results"]
    assert {one["type"] for one in found} == {"skill"}
    found = search(api, query="tea kubernetes rollbacks", banks=["work"], category="episodic")["results"]
    assert {one["content"] for one in found} <= {"Rollbacks take four minutes."}
    memory_id = remembered["Rollbacks take four minutes."]
    api.send("POST", f"/memories/{memory_id}/archive", {})
    assert memory_id not in {one["id"] for one in search(api, query="rollbacks")["results"]}
    assert memory_id in {one["id"] for one in search(api, query="rollbacks", includeArchived=True)["results"]}
    assert search(api, query="rollbacks", status="draft")["results"] == []


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"query": ""},
        {"query": "   "},
        {"query": "x", "top_k": 0},
        {"query": "x", "top_k": 201},
        {"query": "x", "top_k": 2.5},
        {"query": "x", "top_k": True},
        {"query": "x", "threshold": 1.1},
        {"query": "x" * 10_001},
        {"query": "x", "banks": ["Garage"]},
        {"query": "x", "memoryType": "opinion"},
        {"query": "x", "surprise": 1},
    ],
)
def test_a_search_that_is_not_one_is_refused(api: ApiClient, query: dict[str, Any]):
    answer = api.send("POST", "/memories/search", query)
    assert answer.status_code == 422
    assert answer.json()["errors"]


LABELS: dict[str, Any] = {
    **{"type": "skill", "category": "episodic", "role": "tool", "bank": "Health", "namespace": ["a", "b"]},
    **{"user_id": "u", "agent_id": "a", "session_id": "s", "task_id": "t", "tags": ["x", "y"], "entities": ["Ada"]},
    **{"importance": 5, "source_kind": "user_stated", "is_protected": True, "external_write_id": "e", "fact_key": "k"},
}


@pytest.mark.parametrize(
    "named",
    [
        *({"memoryType": "skill"}, {"memory_type": ["skill"]}, {"type": ["skill", "task"]}, {"category": "episodic"}),
        *({"role": "tool"}, {"banks": ["health"]}, {"memoryBank": "Health"}, {"bank": "Health"}),
        *({"namespace": ["a", "b"]}, {"userId": "u"}, {"agentId": "a"}, {"sessionId": ["s"]}, {"taskId": "t"}),
        *({"tag": "y"}, {"entity": ["Ada"]}, {"minImportance": 4}, {"minTrust": "stated"}, {"isProtected": True}),
        *({"externalWriteId": "e"}, {"factKey": "k"}, {"q": "bank:health -tag:z"}, {"createdAfter": "2020-06-01"}),
    ],
    ids=str,
)
def test_every_filter_by_every_name(api: ApiClient, named: dict[str, Any]):
    """API-06, MOD-12: one value or several, snake_case or camelCase; a context takes the same."""
    wanted = api.send("POST", "/memories", {"content": "a zeppelin over the harbour", **LABELS}).json()["memory"]
    other = {"content": "the zeppelin in the sky", "created_at": "2020-01-01T00:00:00Z"}
    api.send("POST", "/memories", other)
    assert [hit["id"] for hit in search(api, query="zeppelin", threshold=0, **named)["results"]] == [wanted["id"]]
    if "q" not in named:
        asked = {"query": "zeppelin", "namespace": ["a", "b"], **named}
        assert api.send("POST", "/memories/context", asked).json()["memory_ids"] == [wanted["id"]]


def test_reading_keeps_the_order_and_names_what_is_missing(api: ApiClient, remembered: dict[str, str]):
    """API-07: `read_memories{ids}`; nonsense is as missing as an unknown id."""
    ids = list(remembered.values())[::-1]
    unknown = "01890000-0000-7000-8000-000000000000"
    answer = api.send("POST", "/memories/read", {"ids": [ids[0], unknown, *ids[1:], "nonsense"]})
    assert answer.status_code == 200
    assert [memory["id"] for memory in answer.json()["results"]] == ids
    assert answer.json()["missing"] == [unknown, "nonsense"]
    asked = {"ids": [ids[0], ids[0].upper(), unknown, ids[1], ids[0], unknown]}
    again = api.send("POST", "/memories/read", asked).json()
    assert ([memory["id"] for memory in again["results"]], again["missing"]) == (ids[:2], [unknown])
    assert api.send("POST", "/memories/read", {"ids": []}).json() == {"results": [], "missing": []}
    assert api.send("POST", "/memories/read", {"ids": [unknown] * 201}).status_code == 422
