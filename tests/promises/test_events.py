"""What listeners are promised: every name really fires, from every way to cause it, once, and with ids only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client

from banks.access import Access
from banks.models import ApiKey, AuditEntry
from memories.events import EventType
from memories.models import CleanupPlan, Dream, Event, Memory
from memories.rules.webhookwishes import WebhookDraft
from memories.services.accesses import flush_accesses
from memories.services.deliveries import send_test
from memories.services.delivering import deliver_webhooks
from memories.services.webhooks import allow_private, create_webhook
from tests.conftest import ApiClient
from tests.contracts.tree import ROOT
from tests.factories import make_key, make_vault, operator, remember
from tests.receivers import receiver
from tests.ways import CANARY, World
from tests.waytable import WAYS

pytestmark = pytest.mark.django_db
NEVER_HEARD = re.compile(CANARY, re.IGNORECASE)


@pytest.fixture
def world(access: Access, api: ApiClient, browser: Client) -> World:
    return World(access, api, browser)


def written(since: int) -> list[Mapping[str, object]]:
    """Everything the stream is made of, as it lies in the database."""
    flush_accesses()
    changes = AuditEntry.objects.filter(pk__gt=since).exclude(event="").values()
    return [*changes, *Event.objects.filter(pk__gt=since).values()]


def place() -> int:
    flush_accesses()
    newest = [model.objects.order_by("-pk").values_list("pk", flat=True).first() for model in (AuditEntry, Event)]
    return max(one or 0 for one in newest)


def standing() -> list[object]:
    """All that events tell of, as far as it can change."""
    memories = Memory.objects.order_by("pk").values_list("pk", "version", "status", "archived_at", "superseded_by_id")
    keys = ApiKey.objects.order_by("pk").values_list("pk", "revoked_at", "expires_at")
    plans = CleanupPlan.objects.order_by("pk").values_list("pk", "state")
    dreams = Dream.objects.order_by("pk").values_list("pk", "version_after")
    return [*memories, *keys, *plans, *dreams]


REFUSE = """
    CREATE FUNCTION refuse_events() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.event <> '' THEN RAISE EXCEPTION 'no events today'; END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON banks_auditentry FOR EACH ROW EXECUTE FUNCTION refuse_events();
    CREATE TRIGGER refuse BEFORE INSERT ON memories_event FOR EACH ROW EXECUTE FUNCTION refuse_events();
"""
#: Written down a moment after the search, by somebody else: nothing waits for it and nothing is undone with it.
NOTED = {name for name, way in WAYS.items() if "memory.searched" in way.wanted}
#: What is begun by one request and ended by a job: the first is refused, the second never comes.
LATER = {name for name, way in WAYS.items() if name.startswith("job:") or any("job." in one for one in way.wanted)}


@pytest.mark.parametrize("name", WAYS)
def test_it_is_heard_once_says_nothing_and_stands_or_falls_with_its_cause(world: World, name: str):
    """EVT-02, EVT-05, EVT-07: through its real door; in ids, versions and words of the hub's own; rolled back with what
    it tells of, and without it that does not happen either.
    """
    way = WAYS[name]
    made, before = way.ready(world), standing()
    since, mark = place(), transaction.savepoint_create()
    way.act(world, made)
    rows = written(since)
    assert Counter(row["event"] for row in rows) == way.wanted
    told = world.rest("GET", f"/events?after={since}&limit=500")["items"]
    assert Counter(one["type"] for one in told) == way.wanted
    assert not NEVER_HEARD.search(repr((rows, told)))
    if name in NOTED:
        return
    transaction.savepoint_rollback(mark)
    assert written(since) == []
    if name not in LATER:
        refused(world, name, made)
        assert standing() == before


def refused(world: World, name: str, made: Any) -> None:
    """The same while no event can be written."""
    with connection.cursor() as cursor:
        cursor.execute(REFUSE)
    mark, failed = transaction.savepoint_create(), False
    try:
        WAYS[name].act(world, made)
    except (AssertionError, DatabaseError):  # what a door answers, or what a command and a job raise
        failed = True
    if connection.needs_rollback:
        transaction.savepoint_rollback(mark)
    assert failed, "it happened all the same"


def documented(language: str, holding: str) -> dict[str, Any]:
    """What a block of the documentation defines."""
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    (block,) = (one for one in re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S) if holding in one)
    names: dict[str, Any] = {}
    exec(compile(block, "docs/api.md", "exec"), names)
    return names


@pytest.mark.django_db(transaction=True)
def test_the_documented_way_to_follow_and_to_check_works(live_server: Any, monkeypatch: pytest.MonkeyPatch):
    """EVT, API: as docs/api.md has it, word for word."""
    access = operator(make_vault("Followed"))
    monkeypatch.setenv("MEMORYHUB_URL", live_server.url)
    monkeypatch.setenv("MEMORYHUB_KEY", make_key(access)[1])
    following, checking = documented("python", "def read"), documented("python", "def is_genuine")
    memory = remember(access, "The cat is called Tom.")
    page = following["read"](following["place"])
    assert [one["data"]["memory_id"] for one in page["items"]] == [str(memory.pk)]
    assert following["read"](page["next"], wait=0)["items"] == []
    with receiver() as it:
        issued = create_webhook(access, WebhookDraft.parse({"url": it.url, "private": True}))
        allow_private(access, issued.webhook.pk)
        send_test(access, issued.webhook.pk)
        deliver_webhooks(5.0)
        (message,) = it.got
    assert checking["is_genuine"](issued.secret, message["headers"], message["body"])
    assert not checking["is_genuine"](issued.secret, message["headers"], message["body"] + b" ")


def test_every_name_has_a_way_and_every_door_is_tried():
    """CON-27: what nobody causes here, nobody has shown to fire."""
    heard = {name for way in WAYS.values() for name in way.wanted}
    assert heard == set(EventType)
    doors = {name.partition(":")[0] for name in WAYS}
    assert doors == {"rest", "mcp", "browser", "job", "command"}
