"""Bulk changes over HTTP."""

from __future__ import annotations

import pytest

from banks.access import Access
from memories.services import bulk
from tests.conftest import ApiClient
from tests.factories import remember


def test_many_are_changed_and_taken_back(api: ApiClient, access: Access):
    rows = [remember(access, f"House {n} has {n} doors.", dedup=False, bank="Work") for n in range(3)]
    protected = remember(access, "Never touch this.", bank="Work", is_protected=True)
    body = {"action": "archive", "query": {"bank": "Work"}, "expectedCount": 4, "reason": "tidying"}
    answer = api.send("POST", "/memories/bulk", body).json()
    assert (answer["changed"], answer["skipped"], answer["job_id"]) == (3, {str(protected.pk): "protected"}, None)
    assert (answer["changeset"]["action"], answer["changeset"]["reason"]) == ("bulk_archive", "tidying")
    assert answer["changeset"]["count"] == 3
    assert api.send("GET", "/memories").json()["total"] == 1
    again = api.send("POST", "/memories/bulk", body)
    assert (again.status_code, again.json()["code"], again.json()["count"]) == (409, "selection_changed", 1)
    undone = api.send("POST", f"/changesets/{answer['changeset']['id']}/undo", {})
    assert undone.json()["undone"] == len(rows)


def test_more_are_left_to_a_job(api: ApiClient, access: Access, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    for n in range(3):
        remember(access, f"House {n} has {n} doors.", dedup=False)
    answer = api.send("POST", "/memories/bulk", {"action": "protect", "query": {}, "expected_count": 3})
    assert answer.status_code == 202
    job = api.send("GET", f"/jobs/{answer.json()['job_id']}").json()
    assert (job["kind"], job["ref"]["count"]) == ("bulk_change", 3)


def test_what_is_missing_is_named(api: ApiClient, access: Access):
    answer = api.send("POST", "/memories/bulk", {"action": "move_bank", "ids": [str(remember(access).pk)]})
    assert answer.status_code == 422
    assert "move_bank needs bank" in answer.json()["errors"][0]["detail"]
    unknown = {"action": "move_bank", "bank": "Moon", "ids": [str(remember(access).pk)]}
    assert api.send("POST", "/memories/bulk", unknown).status_code == 422


def test_a_missing_count_is_pointed_at(api: ApiClient):
    answer = api.send("POST", "/memories/bulk", {"action": "protect", "query": {"bank": "Work"}})
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["pointer"], error["code"]) == (422, "/expected_count", "expected_count")
