"""The client against a live hub, and against services that fail in every way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from banks.access import KeyScope
from memoryhub.client import (
    NO_RETRIES,
    AsyncMemoryHub,
    Conflict,
    Denied,
    HubFailed,
    HubTimeout,
    HubUnreachable,
    Invalid,
    Malformed,
    MemoryHub,
    NotConfigured,
    NotFound,
    RateLimited,
    Retries,
    StaleVersion,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
    Unsupported,
)
from tests import factories
from tests.memoryhub.client.conftest import FOUND, Scripted, fine, told

QUICK = Retries(first=0.001, longest=0.002)


def test_a_memory_from_the_first_word_to_the_last(hub: MemoryHub):
    """Write, find, read, change, replace, put away, bring back, erase: each under the verb's one name."""
    written = hub.write_memory("Prefers window seats on night trains.", type="preference", bank="Personal")
    assert (written.outcome, written.memory.bank, written.memory.version) == ("created", "Personal", 1)
    assert hub.write_memory("Prefers window seats on night trains.", type="preference").outcome == "duplicate"
    key = written.memory.id
    found = hub.search_memories("which seat on the train?", top_k=3)
    assert [one.id for one in found.results] == [key]
    assert found.results[0].scores and found.results[0].text.startswith("Prefers")
    changed = hub.update_memory(key, importance=5, expected_version=1)
    assert (changed.importance, changed.version) == (5, 2)
    successor = hub.supersede_memory(key, "Prefers aisle seats on night trains.")
    assert successor.superseded_id == key
    assert [one.id for one in hub.read_chain(key).items] == [key, successor.memory.id]
    assert hub.archive_memory(successor.memory.id, reason="tidying").archived
    assert not hub.archive_memory(successor.memory.id, archived=False).archived
    assert hub.delete_memory(successor.memory.id) is None
    assert hub.get_memory(successor.memory.id).archived
    assert hub.erase_memory(key).kind == "memory"  # a field of the receipt the client has no class for
    read = hub.read_memories([key, successor.memory.id])
    assert ([one.id for one in read.results], read.missing) == ([successor.memory.id], [str(key)])


def test_the_same_to_be_awaited(live_server: Any, secret: str):
    """Every verb and every pager, from one declaration."""

    async def use() -> None:
        async with AsyncMemoryHub(live_server.url, secret) as hub:
            batch = await hub.write_memories([{"content": f"Tram {number} ends at the sea."} for number in range(5)])
            assert [one.outcome for one in batch.results] == ["created"] * 5
            assert len([one async for one in hub.every_memory(limit=2)]) == 5
            context = await hub.format_for_injection("where does tram 3 end?", max_tokens=200)
            assert context.tokens <= 200 and "Tram 3" in context.text
            with pytest.raises(NotFound):
                await hub.get_memory("00000000-0000-0000-0000-000000000000")

    asyncio.run(use())


def test_a_pager_goes_through_every_page(hub: MemoryHub):
    """Each item once, and no page more than is looked at."""
    hub.write_memories([{"content": f"Locker {number} holds skates.", "tags": ["club"]} for number in range(7)])
    assert {one.content for one in hub.every_memory(limit=3, tag="club")} == {
        f"Locker {number} holds skates." for number in range(7)
    }
    page = hub.list_memories(limit=3, tag="club", bank=["General", "Work"], facets="bank")
    assert (len(page.items), page.total) == (3, 7)
    assert page.facets is not None


def test_events_are_followed(hub: MemoryHub):
    """EVT: to the end, from where one stopped, or waiting for the next."""
    start = hub.list_events(after="now").next
    ids = {str(hub.write_memory(f"Buoy {number} is green.", dedup=False).memory.id) for number in range(5)}
    told = list(hub.every_event(after=start, types="memory.added", limit=2))
    assert {event.type for event in told} == {"memory.added"}
    assert {value for event in told for value in event.data.values() if value in ids} == ids
    assert list(hub.every_event(after=told[-1].id, types="memory.added")) == []
    hub.write_memory("Buoy 9 is red.")
    waiting = hub.every_event(after=told[-1].id, types="memory.added", wait=5)
    assert next(waiting).type == "memory.added"


def test_webhooks(hub: MemoryHub):
    """Made, tried, changed, given a new secret, removed; nothing is sent, for no worker runs."""
    made = hub.create_webhook("https://1.1.1.1/memories", types=["memory.*"])
    assert made.secret and hub.get_webhook(made.id).secret is None
    trial = hub.send_test(made.id)
    assert [one.id for one in hub.every_delivery(made.id)] == [trial.id]
    assert hub.update_webhook(made.id, active=False).state == "paused"
    assert hub.rotate_webhook_secret(made.id).secret not in {None, made.secret}
    assert [one.id for one in hub.list_webhooks().items] == [made.id]
    assert hub.delete_webhook(made.id) is None
    with pytest.raises(NotFound):
        hub.redeliver(made.id, trial.id)


def test_a_conversation_and_the_vault(hub: MemoryHub):
    added = hub.add_messages("monday", [{"role": "human", "content": "I live in Bergen.", "id": "m1"}], user_id="anna")
    assert added.session.user_id == "anna"
    again = hub.add_messages("monday", [{"role": "human", "content": "I live in Bergen.", "id": "m1"}])
    assert again.results[0].outcome == "duplicate"
    assert [turn.content for turn in hub.read_window("monday", max_rounds=1).messages] == ["I live in Bergen."]
    assert hub.flush_session("monday").queued
    assert [one.session_id for one in hub.every_session(user_id="anna")] == ["monday"]
    assert hub.whoami().vault["name"] == "Home"
    assert "General" in {bank.name for bank in hub.list_banks().items}
    assert hub.create_bank("Home Lab").slug
    issued = hub.create_key("reader", ["memories:read"])
    assert issued.key and hub.get_key(issued.id).key is None
    assert hub.cleanup_memories().state == "ready"
    assert hub.export_vault().splitlines()[0].startswith("{")
    assert hub.list_jobs().items[0].state == "pending"
    assert hub.write_setting("dedup_candidates", 4).value == 4


def test_what_the_hub_refuses_is_a_class_with_all_it_said(hub: MemoryHub, live_server: Any, api_with: Any):
    """code, errors, request id and what to do next."""
    with pytest.raises(Invalid) as invalid:
        hub.write_memory("x", bank="Garage", importance=3)
    assert invalid.value.code == "unknown_bank"
    assert invalid.value.errors[0].pointer == "/bank"
    assert invalid.value.request_id and invalid.value.request_id in str(invalid.value)
    assert "correct what" in invalid.value.advice
    memory = hub.write_memory("The hut has six beds.").memory
    hub.update_memory(memory.id, importance=4)
    with pytest.raises(StaleVersion) as stale:
        hub.update_memory(memory.id, importance=5, expected_version=1)
    assert stale.value.current_version == 2
    with pytest.raises(Conflict):
        hub.change_status(memory.id, "draft")
    with pytest.raises(Malformed):
        hub.list_memories(cursor="damaged")
    with pytest.raises(TooLarge):
        hub.write_memory("x" * (6 * 2**20))
    with MemoryHub(live_server.url, "mh_live_nonsense") as stranger, pytest.raises(Unauthenticated):
        stranger.whoami()


def test_a_scope_that_is_missing_is_named(live_server: Any, access: Any):
    secret = factories.make_key(access, frozenset({KeyScope.MEMORIES_READ}))[1]
    with MemoryHub(live_server.url, secret) as reader, pytest.raises(Denied) as denied:
        reader.write_memory("x")
    assert denied.value.missing_scopes == ["memories:write"]


@pytest.mark.parametrize("passing", [429, 502, 503, 504])
def test_what_passes_is_tried_again_with_the_same_key(service: Callable[..., Scripted], passing: int):
    """IDM-03: a write may be repeated because every attempt carries one Idempotency-Key."""
    script = service(told(passing), (0, {}, b""), FOUND)
    with MemoryHub(script.url, "key", retries=QUICK) as hub:
        assert hub.search_memories("tea").results == []
    keys = [headers["Idempotency-Key"] for _, _, headers, _ in script.asked]
    assert len(keys) == 3 and len(set(keys)) == 1


def test_retry_after_is_waited_for(service: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch):
    """And no longer than the caller has patience: then the error says how long it would be."""
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    script = service(told(429, retry_after=7), FOUND)
    with MemoryHub(script.url, "key") as hub:
        hub.search_memories("tea")
    assert [7 <= one <= 8 for one in slept if one > 1] == [True]
    script = service(told(429, retry_after=90))
    with MemoryHub(script.url, "key") as hub, pytest.raises(RateLimited) as limited:
        hub.search_memories("tea")
    assert (limited.value.retry_after, len(script.asked)) == (90, 1)


def test_what_does_not_pass_is_not_tried_again(service: Callable[..., Scripted]):
    for status, kind in ((500, HubFailed), (422, Invalid), (405, Unsupported), (418, UnexpectedAnswer)):
        script = service(told(status))
        with MemoryHub(script.url, "key", retries=QUICK) as hub, pytest.raises(kind):
            hub.search_memories("tea")
        assert len(script.asked) == 1


def test_a_new_key_is_not_made_twice(service: Callable[..., Scripted]):
    """The hub keeps no answer with a secret in it, so what may have arrived is not sent again."""
    script = service((0, {}, b""))
    with MemoryHub(script.url, "key", retries=QUICK) as hub, pytest.raises(HubUnreachable) as lost:
        hub.create_key("reader", ["memories:read"])
    assert (len(script.asked), lost.value.arrived) == (1, True)


def test_attempts_end(service: Callable[..., Scripted]):
    script = service(told(503))
    with MemoryHub(script.url, "key", retries=QUICK) as hub, pytest.raises(Unavailable):
        hub.whoami()
    assert len(script.asked) == 4
    with MemoryHub(script.url, "key", retries=NO_RETRIES) as hub, pytest.raises(Unavailable):
        hub.whoami()
    assert len(script.asked) == 5


def test_nobody_there(monkeypatch: pytest.MonkeyPatch):
    """Where it was looked for is named, and so is what was not said."""
    with MemoryHub("http://127.0.0.1:1", "key", retries=QUICK) as hub, pytest.raises(HubUnreachable) as gone:
        hub.whoami()
    assert "127.0.0.1:1" in str(gone.value) and not gone.value.arrived
    monkeypatch.delenv("MEMORYHUB_URL", raising=False)
    monkeypatch.delenv("MEMORYHUB_KEY", raising=False)
    with pytest.raises(NotConfigured, match="MEMORYHUB_URL and MEMORYHUB_KEY"):
        MemoryHub()


@pytest.mark.parametrize(
    "answer",
    [(200, {}, b"<html>Please log in"), (200, {}, b"[]"), (302, {"Location": "/login"}, b""), fine(other=1)],
    ids=["a page", "a list", "a redirect", "another service"],
)
def test_something_else_answers(service: Callable[..., Scripted], answer: Any):
    script = service(answer)
    with MemoryHub(script.url, "key", retries=QUICK) as hub, pytest.raises(UnexpectedAnswer) as stranger:
        hub.whoami()
    assert "not what a hub says (" in str(stranger.value) or "not where the hub answers" in str(stranger.value)


def test_a_hang_is_a_timeout(service: Callable[..., Scripted]):
    """The body never comes."""
    script = service((200, {"Content-Length": "10"}, b""))
    with MemoryHub(script.url, "key", timeout=0.05, retries=NO_RETRIES) as hub, pytest.raises(HubTimeout):
        hub.whoami()


def test_connections_are_kept(service: Callable[..., Scripted]):
    """The address may be given with or without the path, and the environment says the rest."""
    script = service(fine(vault={}, scopes=[]))
    with MemoryHub(f"{script.url}/api/v1/", "key") as hub:
        hub.whoami()
        hub.whoami()
    assert [path for _, path, _, _ in script.asked] == ["/api/v1/whoami"] * 2


def test_every_error_is_one_of_ours(service: Callable[..., Scripted]):
    """A body that is not what its headers say."""
    script = service((200, {"Content-Encoding": "gzip"}, b"no gzip"))
    with MemoryHub(script.url, "key", retries=NO_RETRIES) as hub, pytest.raises(HubUnreachable):
        hub.whoami()
