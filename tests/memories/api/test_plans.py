"""Clean-up plans over HTTP, from the dry run to the undo."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memories.services.running import run_job
from tests.conftest import ApiClient
from tests.factories import remember

OLD = {"created_at": (datetime.now(UTC) - timedelta(days=60)).isoformat(), "type": "episodic", "importance": 1}


def test_plan_review_apply_undo(api: ApiClient, access):
    """CLN-01, CLN-06, API-10."""
    one, other = remember(access, "A chat long ago.", **OLD), remember(access, "Another one.", **OLD)
    made = api.send("POST", "/cleanup/plans", {"rules": ["stale_episodic"]})
    plan = made.json()
    assert (made.status_code, plan["state"], plan["count"], plan["most_without_asking"]) == (201, "ready", 2, 0)
    assert [listed["id"] for listed in api.send("GET", "/cleanup/plans").json()["items"]] == [plan["id"]]
    path = f"/cleanup/plans/{plan['id']}"
    page = api.send("GET", f"{path}/items?limit=1").json()
    assert (page["total"], page["items"][0]["memory"]["id"], page["items"][0]["ticked"]) == (2, str(one.pk), True)
    rest = api.send("GET", f"{path}/items?limit=1&cursor={page['next_cursor']}").json()
    assert (rest["items"][0]["memory"]["id"], rest["next_cursor"]) == (str(other.pk), None)

    chosen = api.send("PATCH", f"{path}/items", {"memory_ids": [str(one.pk)], "ticked": False}).json()
    assert (chosen["count"], chosen["candidates_total"]) == (1, 2)
    seen = {"expected_count": plan["count"], "plan_hash": plan["plan_hash"]}
    stale = api.send("POST", f"{path}/apply", seen)
    assert (stale.status_code, stale.json()["code"], stale.json()["count"]) == (409, "plan_stale", 1)
    seen = {"expected_count": 1, "plan_hash": chosen["plan_hash"]}
    large = api.send("POST", f"{path}/apply", seen)
    assert (large.status_code, large.json()["code"]) == (409, "plan_above_cap")
    started = api.send("POST", f"{path}/apply", {**seen, "confirm_large": True})
    assert (started.status_code, started.json()["state"]) == (202, "applying")
    run_job(started.json()["job_id"])
    done = api.send("GET", path).json()
    assert done["state"] == "applied"
    assert api.send("GET", f"{path}/items?outcome=archived").json()["total"] == 1
    assert api.send("POST", f"/changesets/{done['changeset_id']}/undo").json()["undone"] == 1
    assert api.send("GET", path).json()["state"] == "undone"


def test_what_cannot_be_meant_is_refused(api: ApiClient, access):
    plan = api.send("POST", "/cleanup/plans").json()
    path = f"/cleanup/plans/{plan['id']}/items"
    wrong = [{}, {"ticked": "yes"}, {"keeper": plan["id"], "reason": "expired"}, {"never_again": True}, {"tick": True}]
    for body in wrong:
        assert api.send("PATCH", path, body).status_code == 422, body
    assert api.send("PATCH", path, {"keeper": plan["id"]}).status_code == 422
    assert api.send("POST", "/cleanup/plans", {"query": "colour:blue"}).json()["code"] == "query_not_understood"
    assert api.send("POST", "/cleanup/plans", {"rules": ["query"]}).status_code == 422
