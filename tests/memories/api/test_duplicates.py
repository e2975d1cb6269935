"""The review list over REST."""

from __future__ import annotations

import pytest

from tests.factories import make_pair, remember


@pytest.fixture
def pair(access):
    return make_pair(remember(access, "Ada lives in Oslo."), remember(access, "Ada lives in Bergen."))


def test_pairs_are_listed_with_both_memories(api, pair):
    """DUP-28: what is close to what, how close, in what the texts differ."""
    page = api.send("GET", "/duplicates").json()
    assert (page["total"], page["next_cursor"]) == (1, None)
    (shown,) = page["items"]
    assert (shown["older"]["content"], shown["newer"]["content"]) == ("Ada lives in Oslo.", "Ada lives in Bergen.")
    assert (shown["similarity"], shown["kind"], shown["differences"], shown["state"]) == (
        0.87,
        "near",
        ["name"],
        "open",
    )
    assert api.send("GET", f"/duplicates/{pair.pk}").json() == shown
    assert api.send("GET", "/duplicates?kind=contradiction").json()["total"] == 0


def test_a_decision_and_back(api, pair):
    decided = api.send("POST", f"/duplicates/{pair.pk}/resolve", {"decision": "supersede", "reason": "moved"})
    assert decided.status_code == 200
    body = decided.json()
    assert (body["state"], body["reason"], body["older"]["superseded_by"]) == (
        "superseded",
        "moved",
        body["newer"]["id"],
    )
    again = api.send("POST", f"/duplicates/{pair.pk}/resolve", {"decision": "keep_both"})
    assert (again.status_code, again.json()["code"]) == (409, "pair_decided")
    reopened = api.send("POST", f"/duplicates/{pair.pk}/reopen").json()
    assert (reopened["state"], reopened["older"]["archived"], reopened["changeset_id"]) == ("open", False, None)


def test_an_unknown_decision_is_refused(api, pair):
    answer = api.send("POST", f"/duplicates/{pair.pk}/resolve", {"decision": "delete"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/decision"
