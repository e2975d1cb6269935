"""Webhooks over REST: a lost answer may be asked for again."""

from __future__ import annotations

import pytest

from memories.models import IdempotencyRecord, Webhook
from tests.conftest import ApiClient

pytestmark = pytest.mark.django_db
HERE = {"url": "https://93.184.216.34/hook"}


def test_the_same_request_makes_one_webhook(api: ApiClient):
    """API: Idempotency-Key; the answer with its secret is kept sealed, as the webhook keeps it."""
    made, again = (api.send("POST", "/webhooks", HERE, Idempotency_Key="hook-1") for _ in range(2))
    assert (made.status_code, again.status_code) == (201, 201)
    assert made.json() == again.json()
    assert again["Idempotency-Replayed"] == "true"
    assert Webhook.objects.count() == 1
    assert api.send("POST", "/webhooks", {**HERE, "name": "x"}, Idempotency_Key="hook-1").status_code == 422
    assert "secret" not in str(IdempotencyRecord.objects.values().get()["answer"])


def test_the_same_request_rotates_once(api: ApiClient):
    """Twice would throw out the secret the receiver still has."""
    path = f"/webhooks/{api.send('POST', '/webhooks', HERE).json()['id']}/rotate"
    first, again = (api.send("POST", path, Idempotency_Key="turn") for _ in range(2))
    assert first.json()["secret"] == again.json()["secret"]


def test_a_private_address_says_why_it_waits(api: ApiClient):
    """`why` is a code, explained in the schema: an operator allows it on the webhook's page."""
    made = api.send("POST", "/webhooks", {"url": "http://127.0.0.1:9/hook", "private": True}).json()
    assert (made["state"], made["why"]) == ("blocked", "private_address")
    assert api.send("PATCH", f"/webhooks/{made['id']}", {"active": True}).json()["state"] == "blocked"
    refused = api.send("POST", "/webhooks", {"url": "http://192.0.0.192/opc/v2/", "private": True})
    assert refused.status_code == 422, "a cloud's own service, never"
