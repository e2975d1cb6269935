"""Archive, review, supersede, restore over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import ApiClient
from tests.memories.api.test_memories import write


def test_archive_and_back(api: ApiClient):
    """API-09: `archive_memory{archived}`, true and false."""
    path = f"/memories/{write(api)['id']}"
    archived = api.send("POST", f"{path}/archive", {"archived": True, "reason": "moved"})
    assert (archived.status_code, archived.json()["archived"], archived.json()["archived_reason"]) == (
        200,
        True,
        "moved",
    )
    assert archived.headers["ETag"] == '"v2"'
    assert api.send("POST", f"{path}/archive", {"archived": False}, If_Match='"v1"').status_code == 412
    restored = api.send("POST", f"{path}/archive", {"archived": False})
    assert (restored.json()["archived"], restored.json()["archived_reason"]) == (False, None)
    assert api.send("POST", f"{path}/archive").json()["archived"] is True


@pytest.mark.parametrize("body", [{"archived": 1}, {"archived": "yes"}, {"archived": None}, {"reason": "x" * 1001}, []])
def test_archive_is_strict(api: ApiClient, body: Any):
    path = f"/memories/{write(api)['id']}"
    assert api.send("POST", f"{path}/archive", body).status_code == 422
    assert api.send("GET", path).json()["archived"] is False


def test_the_only_moves_a_status_makes(api: ApiClient):
    """STA-01…05, STA-07: draft → accepted or discard, accepted → discard, nothing else."""
    memory = write(api, status="draft")
    path = f"/memories/{memory['id']}"
    assert memory["status"] == "draft"
    accepted = api.send("POST", f"{path}/status", {"status": "accepted"})
    assert (accepted.status_code, accepted.json()["status"]) == (200, "accepted")
    for status in ("accepted", "draft"):
        refused = api.send("POST", f"{path}/status", {"status": status})
        assert (refused.status_code, refused.json()["code"]) == (409, "status_move")
    assert api.send("POST", f"{path}/status", {"status": "discard", "reason": "wrong"}).status_code == 200
    assert api.send("POST", f"{path}/status", {"status": "accepted"}).status_code == 409
    assert api.send("POST", f"{path}/status", {"status": "published"}).status_code == 422
    assert write(api, "Another.")["status"] == "accepted"


def test_supersede_by_a_new_memory(api: ApiClient):
    old = write(api, "Carol lives in Oslo.", bank="Personal")
    answer = api.send("POST", f"/memories/{old['id']}/supersede", {"content": "Carol lives in Bergen."})
    assert (answer.status_code, answer.json()["outcome"], answer.json()["superseded_id"]) == (
        201,
        "superseded",
        old["id"],
    )
    new = answer.json()["memory"]
    assert (new["supersedes"], new["bank"]) == (old["id"], "Personal")
    chain = api.send("GET", f"/memories/{new['id']}/chain").json()
    assert ([one["id"] for one in chain["items"]], chain["head_id"]) == ([old["id"], new["id"]], new["id"])
    again = api.send("POST", f"/memories/{old['id']}/supersede", {"content": "Carol lives in Tromsø."})
    assert (again.status_code, again.json()["code"], again.json()["head_id"]) == (409, "already_superseded", new["id"])


def test_supersede_by_one_that_is_there(api: ApiClient):
    old, new = write(api, "Dave is 30."), write(api, "Dave is 31.")
    answer = api.send("POST", f"/memories/{old['id']}/supersede", {"by_id": new["id"], "reason": "birthday"})
    assert (answer.status_code, answer.json()["memory"]["id"]) == (200, new["id"])
    assert answer.json()["memory"]["supersedes"] == old["id"]
    assert api.send("GET", f"/memories/{old['id']}").json()["superseded_by"] == new["id"]
    assert api.send("POST", f"/memories/{new['id']}/supersede", {"by_id": new["id"]}).status_code == 409
    assert api.send("POST", f"/memories/{new['id']}/supersede", {"by_id": "nonsense"}).status_code == 404
    assert api.send("POST", f"/memories/{new['id']}/supersede", {}).status_code == 422


def test_an_earlier_version_comes_back_as_a_new_one(api: ApiClient):
    memory = write(api, "Version one.")
    path = f"/memories/{memory['id']}"
    api.send("PATCH", path, {"content": "Version two."})
    restored = api.send("POST", f"{path}/restore/1", If_Match='"v2"')
    assert (restored.status_code, restored.json()["content"], restored.json()["version"]) == (200, "Version one.", 3)
    assert api.send("POST", f"{path}/restore/77").status_code == 404
    for version in ("0", "-1", "x", "1.5", "9" * 30):
        assert api.send("POST", f"{path}/restore/{version}").status_code == 422


def test_a_replacement_keeps_the_labels_it_does_not_name(api: ApiClient) -> None:
    """SUP-01: new content alone changes nothing else; what is named wins."""
    body = {
        "content": "The garage costs 90 euros.",
        "type": "constraint",
        "importance": 5,
        "tags": ["home"],
        "bank": "Personal",
    }
    old = api.send("POST", "/memories", body).json()["memory"]
    answer = api.send("POST", f"/memories/{old['id']}/supersede", {"content": "It costs 95 euros.", "importance": 4})
    assert answer.status_code == 201
    new = answer.json()["memory"]
    assert (new["type"], new["importance"], new["tags"], new["bank"]) == ("constraint", 4, ["home"], "Personal")
    assert new["supersedes"] == old["id"]
