"""Changesets over HTTP."""

from __future__ import annotations

from memories.rules.undoing import AT_ONCE
from tests.conftest import ApiClient
from tests.factories import archive_together, remember


def test_a_changeset_is_listed_shown_and_undone(api: ApiClient, access):
    changeset = archive_together(access, "One.", "Two.")
    (listed,) = api.send("GET", "/changesets").json()["items"]
    assert (listed["id"], listed["state"], listed["count"]) == (str(changeset.pk), "applied", 2)
    assert listed["reason"] == "tidying up"
    shown = api.send("GET", f"/changesets/{changeset.pk}?limit=1").json()
    assert (len(shown["items"]), shown["counts"]) == (1, {"applied": 2})
    assert shown["items"][0]["memory"]["archived"]
    rest = api.send("GET", f"/changesets/{changeset.pk}?limit=1&cursor={shown['next_cursor']}").json()
    assert rest["next_cursor"] is None

    one = shown["items"][0]["memory"]["id"]
    undone = api.send("POST", f"/changesets/{changeset.pk}/undo", {"memory_ids": [one]})
    assert undone.json() == {"undone": 1, "changed_since": [], "blocked": {}, "job_id": None}
    assert api.send("GET", f"/changesets/{changeset.pk}").json()["counts"] == {"applied": 1, "undone": 1}
    remember(access, rest["items"][0]["memory"]["summary"])
    blocked = api.send("POST", f"/changesets/{changeset.pk}/undo").json()
    assert blocked["blocked"] == {rest["items"][0]["memory"]["id"]: "duplicate_content"}
    refused = api.send("GET", f"/changesets/{changeset.pk}?refused=duplicate_content").json()
    assert len(refused["items"]) == 1


def test_too_many_at_once_are_refused(api: ApiClient, access):
    changeset = archive_together(access, "One.")
    ids = [str(changeset.pk)] * (AT_ONCE + 1)
    assert api.send("POST", f"/changesets/{changeset.pk}/undo", {"memory_ids": ids}).status_code == 422
