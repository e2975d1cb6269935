"""The stream of events over REST."""

from __future__ import annotations

from tests.factories import remember


def test_the_stream_is_read_from_where_it_was_left(api, access):
    """CON-27: after, next, types; ids are texts that can be sent back."""
    here = api.send("GET", "/events?after=now").json()
    assert here["items"] == []
    memory = remember(access)
    found = api.send("GET", f"/events?after={here['next']}&types=memory.*").json()
    (event,) = found["items"]
    assert event["type"] == "memory.added"
    assert event["data"]["memory_id"] == str(memory.pk)
    assert event["actor"]["kind"] == access.actor.kind
    assert api.send("GET", f"/events?after={event['id']}&types=memory.*").json()["items"] == []


def test_mistakes_say_what_to_do(api):
    """API-17: unknown types name the known ones; a place that is gone is 410."""
    refused = api.send("GET", "/events?types=memory.lost")
    assert refused.status_code == 422
    assert "memory.added" in refused.json()["errors"][0]["detail"]
    gone = api.send("GET", "/events?after=99999999999999")
    assert (gone.status_code, gone.json()["code"]) == (410, "events_gone")
    assert api.send("GET", "/events?after=-1").status_code == 422
    assert api.send("GET", "/events?wait=21").status_code == 422
    assert api.send("GET", "/events?limit=501").status_code == 422
