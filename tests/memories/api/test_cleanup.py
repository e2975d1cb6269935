"""The dry run of a clean-up over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from memories.services.running import run_job
from tests.conftest import ApiClient
from tests.memories.api.test_memories import write


def test_a_dry_run_names_candidates_and_changes_nothing(api: ApiClient):
    """API-10, CLN-06: the four rules, why each memory is named, and nothing changed."""
    old = (datetime.now(UTC) - timedelta(days=60)).isoformat()
    stale = write(api, "A chat long ago.", type="episodic", importance=1, created_at=old)
    protected = write(api, "A chat to keep.", type="episodic", importance=1, created_at=old, is_protected=True)
    fresh = write(api, "A chat today.", type="episodic", importance=1)
    before = api.send("GET", "/memories?archived=any&sort=created_at").content
    bodies: list[dict[str, bool] | None] = [None, {}, {"dry_run": True}, {"dryRun": True}]
    for body in bodies:
        answer = api.send("POST", "/cleanup", body)
        assert answer.status_code == 200, answer.content
        found = answer.json()
        assert (found["dry_run"], found["count"], found["by_reason"]["stale_episodic"]) == (True, 1, 1)
        (candidate,) = found["candidates"]
        assert candidate["memory"]["id"] == stale["id"] not in {protected["id"], fresh["id"]}
        assert set(candidate["reasons"]) == {"stale_episodic", "low_stale"}
    assert api.send("GET", "/memories?archived=any&sort=created_at").content == before


def test_rules_can_be_chosen(api: ApiClient):
    assert api.send("POST", "/cleanup", {"rules": ["superseded"]}).json()["count"] == 0
    wrong: list[dict[str, Any]] = [{"rules": []}, {"rules": ["everything"]}, {"dry_run": "yes"}, {"force": True}]
    for body in wrong:
        assert api.send("POST", "/cleanup", body).status_code == 422


def test_one_call_archives_what_it_would_name(api: ApiClient):
    """CLN-08: the same memories at the same instant; above the cap it asks for a plan."""
    old = (datetime.now(UTC) - timedelta(days=60)).isoformat()
    stale = write(api, "A chat long ago.", type="episodic", importance=1, created_at=old)
    refused = api.send("POST", "/cleanup", {"dry_run": False})
    assert (refused.status_code, refused.json()["code"]) == (409, "plan_above_cap")
    assert api.send("GET", f"/cleanup/plans/{refused.json()['plan_id']}").json()["state"] == "ready"
    for number in range(4):
        write(api, f"Locker {number} is taken.")
    started = api.send("POST", "/cleanup", {"dry_run": False})
    assert (started.status_code, started.json()["state"]) == (202, "applying")
    run_job(started.json()["job_id"])
    assert (
        api.send("GET", f"/memories/{stale['id']}").json()["archived_reason"] == "clean-up: stale_episodic, low_stale"
    )
