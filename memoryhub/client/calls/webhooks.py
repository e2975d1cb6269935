"""Endpoints that are told of what happens, and what they answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memoryhub.client.answers import Delivery, Listing, Page, Webhook
from memoryhub.client.fields import Id
from memoryhub.client.request import Call, get, nothing, patch, post, said, segment


def list_webhooks() -> Call[Listing[Webhook]]:
    """The vault's endpoints, without their secrets."""
    return get("/webhooks", Listing[Webhook])


def create_webhook(
    url: str,
    *,
    name: str | None = None,
    types: Sequence[str] | None = None,
    banks: Sequence[str] | None = None,
    private: bool | None = None,
) -> Call[Webhook]:
    """Tell an address of what happens from now on; its signing ``secret`` is in this answer only."""
    body = {"url": url, **said(name=name, types=types, banks=banks, private=private)}
    return replace(post("/webhooks", Webhook, body), repeatable=False)


def get_webhook(webhook_id: Id) -> Call[Webhook]:
    """One endpoint and how it fares."""
    return get(f"/webhooks/{segment(webhook_id)}", Webhook)


def update_webhook(
    webhook_id: Id,
    *,
    url: str | None = None,
    name: str | None = None,
    types: Sequence[str] | None = None,
    banks: Sequence[str] | None = None,
    active: bool | None = None,
) -> Call[Webhook]:
    """Change what is given; ``active=False`` pauses it, True lets it go on where it was."""
    body = said(url=url, name=name, types=types, banks=banks, active=active)
    return patch(f"/webhooks/{segment(webhook_id)}", Webhook, body)


def delete_webhook(webhook_id: Id) -> Call[None]:
    """Remove it with its deliveries."""
    return Call("DELETE", f"/webhooks/{segment(webhook_id)}", nothing)


def rotate_webhook_secret(webhook_id: Id) -> Call[Webhook]:
    """A new secret, shown this once; for a day messages are signed with both."""
    return replace(post(f"/webhooks/{segment(webhook_id)}/rotate", Webhook), repeatable=False)


def send_test(webhook_id: Id) -> Call[Delivery]:
    """Have it told of ``webhook.test``."""
    return post(f"/webhooks/{segment(webhook_id)}/test", Delivery)


def list_deliveries(
    webhook_id: Id, *, state: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[Delivery]]:
    """What it was told and what it answered, newest first."""
    path = f"/webhooks/{segment(webhook_id)}/deliveries"
    return get(path, Page[Delivery], state=state, limit=limit, cursor=cursor)


def redeliver(webhook_id: Id, delivery_id: Id) -> Call[Delivery]:
    """Send one again now."""
    return post(f"/webhooks/{segment(webhook_id)}/deliveries/{segment(delivery_id)}/redeliver", Delivery)
