"""Endpoints that are told of events by the Standard Webhooks spec, and what they were told."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router
from pydantic import Field, with_config

from banks.access import KeyScope
from banks.services.banks import UnknownBank
from memories.api.requests import ApiRequest
from memories.models import Delivery, Webhook
from memories.rules.webhooks import DeliveryState, WebhookState
from memories.rules.webhookwishes import WebhookChanges, WebhookDraft
from memories.services import deliveries, webhooks
from memories.services.deliveries import WebhookNotActive
from memories.services.webhooks import TooManyWebhooks
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.pagination import LONGEST_CURSOR

router = Router()


@with_config(shown({"name": "Notes", "url": "https://example.org/hook", "types": ["memory.*"], "state": "active"}))
class WebhookOut(TypedDict):
    """One endpoint; never its secret. ``state``: active, paused, blocked (``why``: private_address, which an operator
    of the hub allows on the webhook's page in the browser) or disabled (``why``: failing, gone, key_ended).
    """

    id: UUID
    name: str
    url: str
    types: list[str]
    banks: list[UUID] | None
    state: Annotated[str, Word(WebhookState)]
    why: str
    private: bool
    private_allowed: bool
    failures: int
    failing_since: dt.datetime | None
    rests_until: dt.datetime | None
    old_secret_until: dt.datetime | None
    created_at: dt.datetime


@with_config(
    shown(
        {
            "name": "Notes",
            "url": "https://example.org/hook",
            "types": ["memory.*"],
            "state": "active",
            "secret": "whsec_bm90IGEgc2VjcmV0LCBhbiBleGFtcGxl",
        }
    )
)
class WebhookWithSecret(WebhookOut):
    """The same with the secret that was just made; it is not shown again."""

    secret: str


class WebhookList(TypedDict):
    """Newest first."""

    items: list[WebhookOut]


@with_config(
    shown(
        {
            "message_id": "msg_01990d5c8f2e7c4a",
            "event_id": "41207",
            "type": "memory.added",
            "state": "delivered",
            "attempts": 1,
            "status": 204,
            "took_ms": 81.4,
            "answer": "",
            "ended_at": "2026-11-21T10:15:01Z",
        }
    )
)
class DeliveryOut(TypedDict):
    """One event for one endpoint. ``answer`` is the beginning of what the receiver said last: text of somebody else.

    ``state``: waiting, delivered or failed. ``error``: redirected, unreachable, answer_too_slow, address_refused …
    """

    id: UUID
    message_id: str
    event_id: str | None
    type: str
    state: Annotated[str, Word(DeliveryState)]
    attempts: int
    due_at: dt.datetime | None
    status: int | None
    error: str
    took_ms: float | None
    answer: str | None
    created_at: dt.datetime
    ended_at: dt.datetime | None


class DeliveryList(TypedDict):
    """Newest first."""

    items: list[DeliveryOut]
    next_cursor: str | None


def webhook_out(webhook: Webhook) -> WebhookOut:
    """One endpoint."""
    return {
        "id": webhook.pk,
        "name": webhook.name,
        "url": webhook.url,
        "types": webhook.types,
        "banks": webhook.banks,
        "state": webhook.state,
        "why": webhook.why,
        "private": webhook.is_private,
        "private_allowed": webhook.private_allowed,
        "failures": webhook.failures,
        "failing_since": webhook.failing_since,
        "rests_until": webhook.rests_until,
        "old_secret_until": webhook.old_until,
        "created_at": webhook.created_at,
    }


def delivery_out(delivery: Delivery) -> DeliveryOut:
    """One delivery."""
    return {
        "id": delivery.pk,
        "message_id": delivery.message_id,
        "event_id": None if delivery.event_id is None else str(delivery.event_id),
        "type": delivery.event,
        "state": delivery.state,
        "attempts": delivery.attempts,
        "due_at": delivery.due_at if delivery.state == DeliveryState.WAITING else None,
        "status": delivery.status,
        "error": delivery.error,
        "took_ms": delivery.took_ms,
        "answer": delivery.answer,
        "created_at": delivery.created_at,
        "ended_at": delivery.ended_at,
    }


def _issued(issued: webhooks.Issued, status: int) -> HttpResponse:
    out: WebhookWithSecret = {**webhook_out(issued.webhook), "secret": issued.secret}
    return json_answer(out, status)


@router.get("/webhooks", response=WebhookList, **told("List webhooks", KeyScope.WEBHOOKS_ADMIN))
def list_webhooks(request: ApiRequest) -> HttpResponse:
    """The vault's endpoints."""
    return json_answer({"items": [webhook_out(one) for one in webhooks.list_webhooks(request.access)]})


@router.post(
    "/webhooks",
    response={201: WebhookWithSecret},
    **told("Create a webhook", KeyScope.WEBHOOKS_ADMIN, TooManyWebhooks, UnknownBank),
)
def create_webhook(request: ApiRequest, draft: WebhookDraft) -> HttpResponse:
    """A new endpoint, told of what happens from now on. The answer shows its signing secret, this once."""
    return _issued(webhooks.create_webhook(request.access, draft), 201)


@router.get("/webhooks/{webhook_id}", response=WebhookOut, **told("Read a webhook", KeyScope.WEBHOOKS_ADMIN))
def get_webhook(request: ApiRequest, webhook_id: str) -> HttpResponse:
    """One endpoint."""
    return json_answer(webhook_out(webhooks.get_webhook(request.access, webhook_id)))


@router.patch(
    "/webhooks/{webhook_id}", response=WebhookOut, **told("Change a webhook", KeyScope.WEBHOOKS_ADMIN, UnknownBank)
)
def update_webhook(request: ApiRequest, webhook_id: str, changes: WebhookChanges) -> HttpResponse:
    """Change it; ``active`` false pauses it, true lets it go on where it was."""
    return json_answer(webhook_out(webhooks.update_webhook(request.access, webhook_id, changes)))


@router.delete("/webhooks/{webhook_id}", response={204: None}, **told("Remove a webhook", KeyScope.WEBHOOKS_ADMIN))
def delete_webhook(request: ApiRequest, webhook_id: str) -> HttpResponse:
    """Remove it with its deliveries."""
    webhooks.delete_webhook(request.access, webhook_id)
    return HttpResponse(status=204)


@router.post(
    "/webhooks/{webhook_id}/rotate",
    response=WebhookWithSecret,
    **told("Rotate a webhook's secret", KeyScope.WEBHOOKS_ADMIN),
)
def rotate_webhook_secret(request: ApiRequest, webhook_id: str) -> HttpResponse:
    """A new secret, shown this once; for a day every message carries a signature of each."""
    return _issued(webhooks.rotate_webhook_secret(request.access, webhook_id), 200)


@router.post(
    "/webhooks/{webhook_id}/test",
    response={202: DeliveryOut},
    **told("Send a test event", KeyScope.WEBHOOKS_ADMIN, WebhookNotActive),
)
def send_test(request: ApiRequest, webhook_id: str) -> HttpResponse:
    """Have it told of ``webhook.test``; the deliveries show what it answered."""
    return json_answer(delivery_out(deliveries.send_test(request.access, webhook_id)), 202)


@router.get(
    "/webhooks/{webhook_id}/deliveries",
    response=DeliveryList,
    **told("List deliveries of a webhook", KeyScope.WEBHOOKS_ADMIN),
)
def list_deliveries(
    request: ApiRequest,
    webhook_id: str,
    state: DeliveryState | None = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Field(max_length=LONGEST_CURSOR)] = None,
) -> HttpResponse:
    """What it was told and what it answered, newest first."""
    page = deliveries.list_deliveries(request.access, webhook_id, state, limit, cursor)
    return json_answer({"items": [delivery_out(one) for one in page.items], "next_cursor": page.next_cursor})


@router.post(
    "/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
    response={202: DeliveryOut},
    **told("Send a delivery again", KeyScope.WEBHOOKS_ADMIN, WebhookNotActive),
)
def redeliver(request: ApiRequest, webhook_id: str, delivery_id: str) -> HttpResponse:
    """Send one again now, under the same ``webhook-id``, with a new set of attempts."""
    return json_answer(delivery_out(deliveries.redeliver(request.access, webhook_id, delivery_id)), 202)
