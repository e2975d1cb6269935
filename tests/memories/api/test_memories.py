"""Write, list, read, change and remove over HTTP: the real stack on a real database."""

from __future__ import annotations

from typing import Any

from django.db import connection

from tests import factories
from tests.conftest import ApiClient

WRITE_FIELDS = set(
    "content type bank category role importance confidence entities tags fact_key namespace scope user_id agent_id "
    "session_id task_id extra source_kind external_write_id dedup supersedes expires_at event_at created_at status "
    "is_protected vault_id".split()
)
READ_FIELDS = {"id", "archived", "trust", "superseded_by", "version", "updated_at"}


def write(api: ApiClient, content: str = "The hub listens on port 8000.", **more: Any) -> dict[str, Any]:
    answer = api.send("POST", "/memories", {"content": content, **more})
    assert answer.status_code in {200, 201}, answer.content
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


def test_a_written_memory_comes_back_whole(api: ApiClient):
    """API-05, MOD-18, 19, 26, 28…32, 35, 38: every write field and what the hub adds."""
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


def test_the_words_of_other_systems_are_understood(api: ApiClient):
    """API-05: camelCase names, `memoryType`, `vaultId` of the key's own vault."""
    vault_id = api.send("GET", "/whoami").json()["vault"]["id"]
    body = {
        "content": "The stack is Next.js.",
        "memoryType": "skill",
        "externalWriteId": "agent:run123:fact:nextjs-stack",
        "factKey": "stack",
        "sessionId": "s",
        "vaultId": vault_id,
        "dedup": True,
    }
    memory = api.send("POST", "/memories", body).json()["memory"]
    assert (memory["type"], memory["fact_key"], memory["session_id"]) == ("skill", "stack", "s")
    assert memory["external_write_id"] == "agent:run123:fact:nextjs-stack"
    assert (memory["vault_id"], memory["dedup"]) == (vault_id, True)


def test_a_write_into_another_vault_is_not_found(api: ApiClient, other_vault: Any):
    """MOD-31, API-17: another vault's id answers like one that never was."""
    for vault_id in (str(other_vault.pk), "01890000-0000-7000-8000-000000000000", "Elsewhere"):
        answer = api.send("POST", "/memories", {"content": "x", "vault_id": vault_id})
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_outcomes_have_their_statuses(api: ApiClient):
    """IDM-01, IDM-03, IDM-04: 201 for something new, 200 for what was there or was updated."""
    body = {"content": "Bob works at Acme.", "external_write_id": "w-1"}
    created = api.send("POST", "/memories", body)
    replayed = api.send("POST", "/memories", body)
    updated = api.send("POST", "/memories", {**body, "content": "Bob works at Initech."})
    duplicate = api.send("POST", "/memories", {"content": "bob works at  INITECH"})
    outcomes = [(one.status_code, one.json()["outcome"]) for one in (created, replayed, updated, duplicate)]
    assert outcomes == [(201, "created"), (200, "idempotent"), (200, "updated"), (200, "duplicate")]
    assert len({one.json()["memory"]["id"] for one in (created, replayed, updated, duplicate)}) == 1
    assert duplicate.json()["duplicate_of"] == created.json()["memory"]["id"]
    newer = api.send("POST", "/memories", {"content": "Bob retired.", "supersededById": created.json()["memory"]["id"]})
    assert (newer.status_code, newer.json()["outcome"]) == (201, "superseded")
    assert newer.json()["superseded_id"] == newer.json()["memory"]["supersedes"] == created.json()["memory"]["id"]
    old = api.send("GET", f"/memories/{created.json()['memory']['id']}").json()
    assert (old["superseded_by"], old["archived"]) == (newer.json()["memory"]["id"], True)


def test_an_unknown_bank_is_422_and_names_the_banks(api: ApiClient):
    """BNK-02, BNK-11: an explicit write names a bank there is."""
    answer = api.send("POST", "/memories", {"content": "x", "bank": "Garage"})
    told = answer.json()
    assert (answer.status_code, told["code"]) == (422, "unknown_bank")
    assert told["errors"][0]["pointer"] == "/bank"
    assert set(told["banks"]) >= {"General", "Personal", "Work"}
    assert "General" in told["detail"]
    assert api.send("GET", "/memories").json()["total"] == 0


def test_a_batch_reports_each_item_by_itself(api: ApiClient):
    """One invalid item fails alone; equal items of one batch meet each other."""
    items: list[Any] = [
        {"content": "First."},
        {"content": "", "importance": 9},
        {"content": "Second."},
        "not an object",
        {"content": "first"},
        {"content": "x", "bank": "Garage"},
        {"content": "x", "surprise": 1},
    ]
    answer = api.send("POST", "/memories/batch", {"items": items})
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert [one["index"] for one in results] == list(range(7))
    assert [one["status"] for one in results] == [201, 422, 201, 422, 200, 422, 422]
    outcomes = ["created", "failed", "created", "failed", "duplicate", "failed", "failed"]
    assert [one["outcome"] for one in results] == outcomes
    assert {error["pointer"] for error in results[1]["problem"]["errors"]} == {
        "/items/1/content",
        "/items/1/importance",
    }
    pointers = [one["problem"]["errors"][0]["pointer"] for one in results if one["outcome"] == "failed"]
    assert pointers[1:] == ["/items/3", "/items/5/bank", "/items/6/surprise"]
    assert results[4]["duplicate_of"] == results[0]["memory"]["id"]
    assert set(results[0]["memory"]) >= WRITE_FIELDS | READ_FIELDS
    assert api.send("GET", "/memories").json()["total"] == 2


def test_a_batch_asks_the_database_no_more_for_more_items(api: ApiClient, django_assert_max_num_queries: Any):
    with django_assert_max_num_queries(40):
        items = [{"content": f"Number {number}."} for number in range(100)]
        answer = api.send("POST", "/memories/batch", {"items": items})
    assert [one["status"] for one in answer.json()["results"]] == [201] * 100


def test_five_hundred_are_a_batch_and_no_more(api: ApiClient):
    items = [{"content": f"Number {number}."} for number in range(501)]
    assert api.send("POST", "/memories/batch", {"items": items}).status_code == 422
    assert api.send("POST", "/memories/batch", {"items": []}).status_code == 422
    assert api.send("GET", "/memories").json()["total"] == 0


def test_a_list_is_paged_forth_and_back(api: ApiClient):
    ids = [write(api, f"Number {number}.")["id"] for number in range(5)][::-1]
    first = api.send("GET", "/memories?limit=2").json()
    assert ([item["id"] for item in first["items"]], first["total"], first["prev_cursor"]) == (ids[:2], 5, None)
    assert set(first["items"][0]) >= WRITE_FIELDS | READ_FIELDS
    answer = api.send("GET", f"/memories?limit=2&cursor={first['next_cursor']}")
    second = answer.json()
    assert [item["id"] for item in second["items"]] == ids[2:4]
    assert f"cursor={second['next_cursor']}" in answer.headers["Link"]
    assert 'rel="next"' in answer.headers["Link"]
    assert 'rel="prev"' in answer.headers["Link"]
    back = api.send("GET", f"/memories?limit=2&cursor={second['prev_cursor']}").json()
    assert [item["id"] for item in back["items"]] == ids[:2]
    last = api.send("GET", f"/memories?limit=2&cursor={second['next_cursor']}").json()
    assert ([item["id"] for item in last["items"]], last["next_cursor"]) == (ids[4:], None)


def test_a_cursor_fits_its_own_query_only(api: ApiClient, other_access: Any):
    """Filters, sort, vault: any other and the cursor is a mismatch; a damaged one is invalid."""
    for number in range(3):
        write(api, f"Number {number}.")
    cursor = api.send("GET", "/memories?limit=1").json()["next_cursor"]
    for query in ("type=fact", "sort=created_at", "q=number", "archived=any"):
        answer = api.send("GET", f"/memories?limit=1&{query}&cursor={cursor}")
        assert (answer.status_code, answer.json()["code"]) == (400, "cursor_mismatch")
    stranger = ApiClient(factories.make_key(other_access)[1])
    answer = stranger.send("GET", f"/memories?limit=1&cursor={cursor}")
    assert (answer.status_code, answer.json()["code"]) == (400, "cursor_mismatch")
    for damaged in ("x", cursor[:-2], cursor.swapcase(), "%F0%9F%98%80", "a" * 3000):
        answer = api.send("GET", f"/memories?limit=1&cursor={damaged}")
        assert (answer.status_code, answer.json()["code"]) == (400, "cursor_invalid")


def test_filters_narrow_and_facets_count(api: ApiClient):
    """MOD-12, BNK-10: filters are AND-ed, a repeated one means any of them; counts leave their own filter out."""
    write(api, "Tea.", bank="Personal", type="preference", role="human", category="user_profile", tags=["drinks"])
    write(api, "Coffee.", bank="Personal", type="fact", role="ai", tags=["drinks", "hot"])
    write(api, "Standup.", bank="Work", type="episodic", role="ai", importance=5)

    def contents(query: str) -> set[str]:
        answer = api.send("GET", f"/memories?{query}")
        assert answer.status_code == 200, answer.content
        return {item["content"] for item in answer.json()["items"]}

    assert contents("bank=personal") == {"Tea.", "Coffee."}
    assert contents("bank=Personal&bank=Work") == {"Tea.", "Coffee.", "Standup."}
    assert contents("bank=Personal&role=ai") == {"Coffee."}
    assert contents("memoryType=preference&memory_bank=Personal") == {"Tea."}
    assert contents("tag=hot") == {"Coffee."}
    assert contents("min_importance=4") == {"Standup."}
    assert contents("q=standup") == {"Standup."}
    assert contents("namespace=default") == {"Tea.", "Coffee.", "Standup."}
    assert contents("namespace=other") == set()
    facets = api.send("GET", "/memories?bank=Work&facets=bank,type").json()["facets"]
    assert {value["value"]: (value["count"], value["selected"]) for value in facets["bank"]} == {
        "Personal": (2, False),
        "Work": (1, True),
    }
    assert {value["value"]: value["count"] for value in facets["type"]} == {"episodic": 1}
    assert api.send("GET", "/memories?facets=bank,colour").status_code == 422


def test_a_list_hides_what_does_not_count_unless_asked(api: ApiClient):
    """STA-09, MOD-40: drafts, archived and superseded memories stay away by default and come on request."""
    kept = write(api, "Kept.")
    draft = write(api, "Draft.", status="draft")
    archived = write(api, "Archived.")
    api.send("POST", f"/memories/{archived['id']}/archive", {"archived": True})

    def ids(query: str) -> set[str]:
        return {item["id"] for item in api.send("GET", f"/memories?{query}").json()["items"]}

    assert ids("") == {kept["id"]}
    assert ids("status=draft") == {draft["id"]}
    assert ids("status=any") == {kept["id"], draft["id"]}
    assert ids("archived=true") == {archived["id"]}
    assert ids("archived=any&status=any") == {kept["id"], draft["id"], archived["id"]}


def test_a_compact_list_carries_summaries(api: ApiClient):
    write(api, "word " * 300)
    (item,) = api.send("GET", "/memories?compact=true").json()["items"]
    assert "content" not in item
    assert len(item["summary"]) <= 200
    assert item["summary"].endswith("…")


def test_a_known_version_is_not_sent_again(api: ApiClient):
    memory = write(api)
    path = f"/memories/{memory['id']}"
    for tag in ('"v1"', 'W/"v1"', '"v0", "v1"', "*"):
        answer = api.send("GET", path, If_None_Match=tag)
        assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", '"v1"')
    assert api.send("GET", path, If_None_Match='"v2"').status_code == 200


def test_a_change_makes_a_version(api: ApiClient):
    """API-08: `update_memory{content?, importance?}`; BNK-11: reassigning the bank."""
    memory = write(api)
    path = f"/memories/{memory['id']}"
    answer = api.send("PATCH", path, {"content": "Port 9000.", "importance": 5, "bank": "Work"}, If_Match='"v1"')
    changed = answer.json()
    assert (answer.status_code, answer.headers["ETag"], changed["version"]) == (200, '"v2"', 2)
    assert (changed["content"], changed["importance"], changed["bank"]) == ("Port 9000.", 5, "Work")
    assert changed["updated_at"] > memory["updated_at"]
    assert api.send("PATCH", path, {"memoryType": "constraint"}).json()["type"] == "constraint"


def test_a_stale_version_is_refused_and_told(api: ApiClient):
    memory = write(api)
    path = f"/memories/{memory['id']}"
    api.send("PATCH", path, {"importance": 5})
    for tag in ('"v1"', '"v9"', '"elsewhere"', "v2"):
        answer = api.send("PATCH", path, {"importance": 1}, If_Match=tag)
        assert (answer.status_code, answer.json()["code"]) == (412, "stale_version")
        assert answer.json()["current_version"] == 2
    assert api.send("PATCH", path, {"importance": 1}, If_Match='"v1", "v2"').status_code == 422
    assert api.send("GET", path).json()["importance"] == 5
    assert api.send("PATCH", path, {"importance": 1}, If_Match="*").status_code == 200


def test_delete_archives_and_erase_leaves_a_receipt(api: ApiClient):
    memory = write(api)
    path = f"/memories/{memory['id']}"
    answer = api.send("DELETE", path)
    assert (answer.status_code, answer.content) == (204, b"")
    assert api.send("GET", path).json()["archived"] is True
    assert api.send("DELETE", path + "?erase=true", If_Match='"v1"').status_code == 412
    receipt = api.send("DELETE", path + "?erase=true")
    assert receipt.status_code == 200
    assert receipt.json()["memory_id"] == memory["id"]
    assert receipt.json()["signature"]
    assert api.send("GET", path).status_code == 404


def test_a_broken_row_is_marked_and_fails_nothing(api: ApiClient):
    """A list stays readable when one content does not open."""
    write(api, "Readable.")
    broken = write(api, "Broken.")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE memories_memory SET content = %s WHERE id = %s", [b"garbage", broken["id"]])
    items = {item["id"]: item for item in api.send("GET", "/memories").json()["items"]}
    assert (items[broken["id"]]["content"], items[broken["id"]]["unreadable"]) == (None, True)
    assert len(items) == 2
    assert api.send("GET", f"/memories/{broken['id']}").json()["unreadable"] is True
    assert api.send("GET", "/memories?compact=true").status_code == 200
    assert api.send("POST", "/memories/read", {"ids": [broken["id"]]}).json()["results"][0]["content"] is None


def test_a_page_costs_a_fixed_number_of_queries(api: ApiClient, django_assert_max_num_queries: Any):
    items = [{"content": f"Number {number}."} for number in range(60)]
    api.send("POST", "/memories/batch", {"items": items})
    with django_assert_max_num_queries(8):
        assert len(api.send("GET", "/memories?limit=60").json()["items"]) == 60
