"""The access log over HTTP, written by the requests it tells of."""

from __future__ import annotations

import pytest

from memories.services.accesses import flush_accesses
from tests.conftest import ApiClient
from tests.memories.api.test_memories import write


@pytest.fixture(autouse=True)
def _nothing_waits(db: None) -> None:
    flush_accesses()


def test_searches_and_reads_are_in_the_log(api: ApiClient):
    """PRN-07: what was answered and read, the same at most once a minute; lists and answers of 304 are not."""
    memory = write(api, "The kettle is in the garage.")
    path = f"/memories/{memory['id']}"
    search = {"query": "where is the kettle?"}
    (hit,) = api.send("POST", "/memories/search", search).json()["results"]
    flush_accesses()
    api.send("POST", "/memories/read", {"ids": [memory["id"], "nonsense"]})
    flush_accesses()
    fetched = api.send("GET", path)
    api.send("GET", path, If_None_Match=fetched.headers["ETag"])
    api.send("GET", "/memories")
    flush_accesses()
    answer = api.send("GET", f"{path}/accesses").json()
    assert answer["next_cursor"] is None
    assert [(item["purpose"], item["query"], item["rank"]) for item in answer["items"]] == [
        ("read", None, None),
        ("search", "where is the kettle?", 1),
    ]
    assert answer["items"][1]["score"] == hit["score"]
    assert {item["actor_kind"] for item in answer["items"]} == {"key"}
    assert api.send("GET", path).json()["access_count"] == 1


def test_the_log_comes_in_pages(api: ApiClient):
    memory = write(api)
    path = f"/memories/{memory['id']}/accesses"
    for word in ("one", "two", "three"):
        api.send("POST", "/memories/search", {"query": f"hub {word}"})
    flush_accesses()
    page = api.send("GET", f"{path}?limit=2").json()
    rest = api.send("GET", f"{path}?limit=2&cursor={page['next_cursor']}").json()
    assert [item["query"] for item in page["items"] + rest["items"]] == ["hub three", "hub two", "hub one"]
    assert api.send("GET", f"{path}?cursor=nonsense").status_code == 400
    assert api.send("GET", f"{path}?limit=0").status_code == 422
