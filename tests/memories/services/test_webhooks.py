"""Endpoints that are told of events: who may make them, where they may lead, what they are told, and when no more."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import time_machine
from django.db import connection

from banks.access import Access, KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry
from banks.services.banks import create_bank
from banks.services.drafts import BankDraft
from memories.models import Delivery, Webhook
from memories.rules.webhooks import ATTEMPTS, DeliveryState, WebhookState, is_secret
from memories.rules.webhookwishes import WebhookChanges, WebhookDraft
from memories.services.deliveries import (
    WebhookNotActive,
    fan_out,
    list_deliveries,
    redeliver,
    send_test,
    trim_deliveries,
)
from memories.services.delivering import deliver_webhooks
from memories.services.erasing import erase_memory
from memories.services.webhooks import (
    OperatorNeeded,
    TooManyWebhooks,
    allow_private,
    create_webhook,
    delete_webhook,
    get_webhook,
    list_webhooks,
    rotate_webhook_secret,
    update_webhook,
)
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Invalid, NotFound
from tests.factories import access_of, make_key, make_vault, operator, remember
from tests.receivers import Receiver, receiver

ADDED = ["memory.added"]


def listening(access: Access, it: Receiver, **more: object) -> tuple[Webhook, str]:
    """A webhook to a receiver on this machine, allowed by an operator."""
    draft = WebhookDraft.parse({"url": it.url, "types": ADDED, "private": True, **more})
    issued = create_webhook(access, draft)
    return allow_private(access, issued.webhook.pk), issued.secret


def verified(secret: str, message: dict[str, Any]) -> bool:
    """What a receiver does, by hand."""
    headers, body = message["headers"], message["body"]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return expected in headers["webhook-signature"].split(" ")


def deliver(seconds: float = 15.0) -> int:
    return deliver_webhooks(seconds)


def test_an_event_is_told_once_signed_and_thin(access):
    """Standard Webhooks 1.0.0, EVT-07: id, timestamp, signature; type, timestamp, data; ids and nothing said."""
    with receiver() as it:
        webhook, secret = listening(access, it)
        memory = remember(access, "The cat is called Tom.")
        deliver()
        (message,) = it.got
        assert deliver(1.5) == 0
    assert is_secret(secret)
    assert verified(secret, message)
    body = json.loads(message["body"])
    assert set(body) == {"type", "timestamp", "data"}
    assert (body["type"], body["data"]["memory_id"]) == ("memory.added", str(memory.pk))
    assert b"cat" not in message["body"]
    assert body["timestamp"].endswith("Z"), "as everywhere in the API"
    assert abs(int(message["headers"]["webhook-timestamp"]) - time.time()) < 60
    (delivery,) = list_deliveries(access, webhook.pk).items
    assert (delivery.state, delivery.attempts, delivery.status, delivery.answer) == ("delivered", 1, 200, "ok")
    assert message["headers"]["webhook-id"] == delivery.message_id


def test_a_rotated_secret_signs_beside_the_old_one_for_a_day(access):
    """Standard Webhooks: zero-downtime rotation."""
    with receiver() as it:
        webhook, old = listening(access, it)
        new = rotate_webhook_secret(access, webhook.pk).secret
        send_test(access, webhook.pk)
        deliver()
        assert verified(old, it.got[0])
        assert verified(new, it.got[0])
        Webhook.objects.filter(pk=webhook.pk).update(old_until=now() - dt.timedelta(seconds=1))
        send_test(access, webhook.pk)
        deliver()
        assert not verified(old, it.got[1])
        assert verified(new, it.got[1])


def test_secrets_and_addresses_are_sealed(access):
    """DESIGN §6: what lies in the database opens nothing."""
    with receiver() as it:
        webhook, secret = listening(access, it)
        with connection.cursor() as cursor:
            cursor.execute("SELECT w::text FROM memories_webhook w WHERE id = %s", [webhook.pk])
            (stored,) = cursor.fetchone()
    assert secret not in stored
    assert it.url not in stored
    assert secret.encode().hex() not in stored


@pytest.mark.parametrize("status", [500, 404, 302])
def test_what_is_not_taken_is_tried_again_under_the_same_id(access, status):
    """Standard Webhooks: anything but 2xx is a failure, a redirect too; it is not followed."""
    with receiver() as elsewhere, receiver(status=status, location=elsewhere.url, body=b"<h1>no</h1>") as it:
        webhook, _ = listening(access, it)
        remember(access)
        deliver()
        (delivery,) = list_deliveries(access, webhook.pk).items
        assert (delivery.state, delivery.attempts, delivery.status) == ("waiting", 1, status)
        assert delivery.error == ("redirected" if status == 302 else "")
        assert delivery.answer == "<h1>no</h1>"
        assert delivery.due_at > now()
        it.status, it.location = 200, ""
        with time_machine.travel(now() + dt.timedelta(minutes=2)):
            deliver()
        assert elsewhere.got == []
    assert it.got[0]["headers"]["webhook-id"] == it.got[1]["headers"]["webhook-id"]
    assert it.got[0]["body"] == it.got[1]["body"]
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("delivered", 2)
    assert get_webhook(access, webhook.pk).failures == 0


def test_a_delivery_ends_after_its_last_attempt(access):
    """Issue: retried over a day or so, then it waits for a person, who may send it again."""
    with receiver(status=500) as it:
        webhook, _ = listening(access, it)
        remember(access)
        deliver()
        Delivery.objects.filter(webhook=webhook).update(attempts=ATTEMPTS - 1, due_at=now())
        Webhook.objects.filter(pk=webhook.pk).update(rests_until=None)
        deliver()
        (delivery,) = list_deliveries(access, webhook.pk, DeliveryState.FAILED).items
        it.status = 200
        assert redeliver(access, webhook.pk, delivery.pk).state == "waiting"
        deliver()
        delivery.refresh_from_db()
        assert (delivery.state, delivery.attempts) == ("delivered", 1)


def test_gone_and_lasting_failure_switch_it_off(access):
    """Standard Webhooks: 410 at once, otherwise after days; a person can switch it on again."""
    with receiver(status=410) as gone, receiver(status=500) as failing:
        first, _ = listening(access, gone)
        second, _ = listening(access, failing)
        Webhook.objects.filter(pk=second.pk).update(failing_since=now() - dt.timedelta(days=6), failures=3)
        remember(access)
        deliver()
        states = {one.pk: (one.state, one.why) for one in list_webhooks(access)}
        assert states == {first.pk: ("disabled", "gone"), second.pk: ("disabled", "failing")}
        assert AuditEntry.objects.filter(vault=access.vault, action="disable_webhook").count() == 2
        with pytest.raises(WebhookNotActive):
            send_test(access, first.pk)
        gone.status = 200
        assert update_webhook(access, first.pk, WebhookChanges(active=True)).state == WebhookState.ACTIVE
        Delivery.objects.filter(webhook=first).update(due_at=now())
        deliver()
        assert len(gone.got) == 2


def test_one_that_hangs_delays_nobody(access):
    """Issue: a receiver that hangs holds one call; the others are told at once, and the write knows nothing of it."""
    with receiver(hangs=30) as hanging, receiver() as healthy:
        slow, _ = listening(access, hanging)
        listening(access, healthy)
        began = time.time()
        for number in range(30):
            remember(access, f"Number {number} is a number of its own.", dedup=False)
        written = time.time() - began
        began = time.time()
        deliver(12)
        assert len(healthy.got) == 30
        assert max(healthy.at) - began < 8
        assert len(hanging.got) <= 2
    rested = Webhook.objects.get(pk=slow.pk)
    assert rested.failures >= 1
    assert rested.rests_until is not None
    assert list_deliveries(access, slow.pk, DeliveryState.WAITING, limit=100).items[-1].error == "answer_too_slow"
    assert written < 20


def test_a_long_answer_is_cut_and_stays_text(access):
    """Issue: what the receiver says is somebody else's text: bounded, without NUL."""
    with receiver(status=500, body=b"\0<script>" + b"x" * 100_000) as it:
        webhook, _ = listening(access, it)
        remember(access)
        deliver()
    (delivery,) = list_deliveries(access, webhook.pk).items
    assert delivery.answer.startswith("\ufffd<script>")
    assert len(delivery.answer) == 500


def test_private_addresses_are_refused_unless_an_operator_allows_the_endpoint(access):
    """security.md S9: not loopback, not link-local, not by another spelling; and never because a key says so."""
    for url in ("http://127.0.0.1:9/x", "http://localhost/x", "http://2130706433/", "http://[::1]/", "http://0.0.0.0/"):
        with pytest.raises(Invalid) as refused:
            create_webhook(access, WebhookDraft.parse({"url": url}))
        assert refused.value.errors[0].code in {"address_refused", "unresolvable"}
    with pytest.raises(Invalid):
        create_webhook(access, WebhookDraft.parse({"url": "http://169.254.169.254/latest", "private": True}))
    for url in ("ftp://example.org/", "http://u:p@example.org/", "http:///x", "https://example.org/#x", "https://x y/"):
        with pytest.raises(Invalid):
            WebhookDraft.parse({"url": url})
    with receiver() as it:
        keyed = access_of(make_key(access)[1])
        webhook = create_webhook(keyed, WebhookDraft.parse({"url": it.url, "private": True})).webhook
        assert (webhook.state, webhook.why) == (WebhookState.BLOCKED, "private_address")
        remember(access)
        deliver(1.5)
        assert it.got == []
        with pytest.raises(OperatorNeeded):
            allow_private(keyed, webhook.pk)
        allowed = allow_private(access, webhook.pk)
        assert (allowed.state, allowed.why) == (WebhookState.ACTIVE, "")
        assert AuditEntry.objects.filter(vault=access.vault, action="allow_private_webhook").exists()
        with receiver() as other:
            moved = update_webhook(keyed, webhook.pk, WebhookChanges(url=other.url, private=True))
        assert moved.state == WebhookState.BLOCKED


def test_an_address_is_checked_again_when_it_is_called(access, monkeypatch):
    """security.md §4.6: a name that leads elsewhere since is not followed there."""
    with receiver() as it:
        webhook, _ = listening(access, it)
        Webhook.objects.filter(pk=webhook.pk).update(is_private=False)  # as if it had been public when it was made
        remember(access)
        deliver()
        assert it.got == []
    (delivery,) = list_deliveries(access, webhook.pk).items
    assert delivery.error == "address_refused"


def test_it_hears_no_more_than_whoever_made_it(access):
    """DESIGN §6: a key of one bank cannot listen to another through a webhook; types need their scopes."""
    create_bank(access, BankDraft(name="Attic"))
    limited = access_of(make_key(access, banks=["Attic"])[1])
    with receiver() as it:
        listening(access, it)
        issued = create_webhook(limited, WebhookDraft.parse({"url": it.url, "types": ADDED, "private": True}))
        allow_private(access, issued.webhook.pk)
        here = remember(access, "In the attic.", bank="Attic")
        remember(access, "In the general bank.")
        assert fan_out() == 3
        (told,) = list_deliveries(limited, issued.webhook.pk).items
        deliver()
        assert len([one for one in it.events if one["data"]["memory_id"] == str(here.pk)]) == 2
        assert told.event == "memory.added"
    assert len(list_webhooks(limited)) == 1
    narrow = access_of(make_key(access, frozenset({KeyScope.WEBHOOKS_ADMIN}))[1])
    with pytest.raises(MissingScope):
        create_webhook(narrow, WebhookDraft.parse({"url": it.url, "types": ADDED, "private": True}))
    with pytest.raises(MissingScope):
        list_webhooks(access_of(make_key(access, frozenset({KeyScope.MEMORIES_READ}))[1]))


def test_whoever_says_where_it_leads_hears_no_more_than_they_may(access):
    """A key that manages webhooks and may read nothing cannot turn an owner's towards itself."""
    webhook = create_webhook(access, WebhookDraft.parse({"url": "https://93.184.216.34/a"})).webhook
    manager = access_of(make_key(access, frozenset({KeyScope.WEBHOOKS_ADMIN}))[1])
    with pytest.raises(MissingScope):
        update_webhook(manager, webhook.pk, WebhookChanges.parse({"url": "https://93.184.216.34/b"}))
    reader = access_of(make_key(access, frozenset({KeyScope.WEBHOOKS_ADMIN, KeyScope.MEMORIES_READ}))[1])
    narrowed = {"url": "https://93.184.216.34/b", "types": ["memory.added"]}
    with pytest.raises(MissingScope):
        rotate_webhook_secret(manager, webhook.pk)  # who has the secret can speak as the hub
    for less in (narrowed, {"types": ["memory.added"]}, {"banks": ["Work"]}):
        with pytest.raises(MissingScope):  # nor is it first made to hear so little that the secret may be asked for
            update_webhook(reader, webhook.pk, WebhookChanges.parse(less))
    update_webhook(access, webhook.pk, WebhookChanges.parse({"types": ["memory.added", "memory.updated"]}))
    turned = update_webhook(reader, webhook.pk, WebhookChanges.parse(narrowed))
    assert turned.mandate["actor_id"] == reader.actor.id
    assert turned.types == ["memory.added"]


def test_banks_narrow_what_is_heard_of_memories(access):
    """Issue: types and banks filter."""
    create_bank(access, BankDraft(name="Attic"))
    with receiver() as it:
        webhook, _ = listening(access, it, banks=["Attic"], types=["memory.*", "key.*"])
        remember(access, "In the attic.", bank="Attic")
        remember(access, "In the general bank.")
        make_key(access)
        fan_out()
    assert [one.event for one in list_deliveries(access, webhook.pk).items] == ["key.created", "memory.added"]


def test_a_pause_keeps_the_place(access):
    """Nothing is lost by pausing: what happened meanwhile is told afterwards."""
    with receiver() as it:
        webhook, _ = listening(access, it)
        update_webhook(access, webhook.pk, WebhookChanges(active=False))
        remember(access, "Meanwhile.")
        deliver(1.5)
        assert it.got == []
        update_webhook(access, webhook.pk, WebhookChanges(active=True))
        deliver()
        assert len(it.got) == 1


def test_a_crash_between_commit_and_delivery_loses_nothing(access, monkeypatch):
    """EVT-05: the place in the stream is in the database; a taken delivery comes back when its lease is over."""
    with receiver() as it:
        webhook, _ = listening(access, it)
        remember(access, "Before the crash.")
        fan_out()
        Delivery.objects.filter(webhook=webhook).update(lease_until=now() + dt.timedelta(minutes=3))  # and it died
        remember(access, "After it.")
        deliver(1.5)
        assert len(it.got) == 1
        Delivery.objects.filter(webhook=webhook, state="waiting").update(lease_until=now() - dt.timedelta(seconds=1))
        deliver()
        assert len(it.got) == 2
        assert fan_out() == 0


def test_an_erased_memory_is_told_as_erased_and_answers_about_it_are_forgotten(access):
    """S12: what is waiting is read from the stream when it is sent; nothing of it lies in the deliveries."""
    with receiver(body=b"thank you for the cat") as it:
        webhook, _ = listening(access, it, types=["memory.*"])
        memory = remember(access, "The cat is called Tom.")
        deliver()
        assert list_deliveries(access, webhook.pk).items[0].answer == "thank you for the cat"
        erase_memory(access, memory.pk)
        assert list_deliveries(access, webhook.pk).items[0].answer is None
        deliver()
    assert [one["type"] for one in it.events] == ["memory.added", "memory.erased"]


def test_other_vaults_and_limits(access, other_access):
    """MOD-21: another vault's webhooks are like unknown ones; a vault has twenty at most."""
    with receiver() as it:
        webhook, _ = listening(access, it)
        for call in (get_webhook, send_test, rotate_webhook_secret, delete_webhook, list_deliveries):
            with pytest.raises(NotFound):
                call(other_access, webhook.pk)
        for _ in range(19):
            create_webhook(access, WebhookDraft.parse({"url": it.url, "private": True}))
        with pytest.raises(TooManyWebhooks):
            create_webhook(access, WebhookDraft.parse({"url": it.url, "private": True}))
        delete_webhook(access, webhook.pk)
        assert len(list_webhooks(access)) == 19


def test_old_deliveries_are_forgotten(access):
    """`events_days`: ended ones go, waiting ones stay."""
    with receiver() as it:
        webhook, _ = listening(access, it)
        send_test(access, webhook.pk)
        deliver()
        send_test(access, webhook.pk)
        with time_machine.travel(now() + dt.timedelta(days=31)):
            assert trim_deliveries() == 1
    assert len(list_deliveries(access, webhook.pk).items) == 1


@pytest.mark.django_db(transaction=True)
def test_the_sweep_opens_the_vaults_it_needs_by_itself():
    """It runs where nothing is open, and what stands behind it in the sweep must run too."""
    create_webhook(operator(make_vault("Home")), WebhookDraft.parse({"url": "https://93.184.216.34/a"}))

    def swept() -> int:
        try:
            return trim_deliveries()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as elsewhere:
        assert elsewhere.submit(swept).result() == 0
