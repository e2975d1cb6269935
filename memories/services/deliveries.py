"""Tellings of events to endpoints: each once, seen afterwards, and sent again when somebody asks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass, replace
from uuid import UUID

import structlog
from django.db import transaction

from banks.access import Access, acting_under, system_access
from banks.models import AuditEntry
from banks.services.audit import Audited, record_audit
from memories.models import Delivery, Webhook
from memories.models.effective import effective_settings
from memories.rules.webhooks import DeliveryState, WebhookState
from memories.search.events import EventQuery, EventsGone, Heard, list_events, read_events
from memories.search.horizon import horizon
from memories.services.webhooks import get_webhook
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, HubError, NotFound
from memoryhub.lib.ids import new_id, parse_id
from memoryhub.lib.kick import nudge_deliveries
from memoryhub.lib.pagination import decode_cursor, encode_cursor, query_text
from memoryhub.lib.sealing import gate

log = structlog.get_logger(__name__)
TEST = "webhook.test"
PAGE = 500
TRIMMED_AT_ONCE = 2_000


class WebhookNotActive(Conflict):
    """This webhook is not called now; resume it first, or have an operator allow its address."""

    code = "webhook_not_active"


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """Deliveries, newest first."""

    items: list[Delivery]
    next_cursor: str | None


def list_deliveries(
    access: Access,
    webhook_id: str | UUID,
    state: DeliveryState | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> DeliveryPage:
    """What an endpoint was told, newest first. Needs webhooks:admin. Raises NotFound, CursorInvalid."""
    webhook = get_webhook(access, webhook_id)
    rows, query = webhook.deliveries.all(), query_text(access.vault_id, str(webhook.pk), str(state))
    if state is not None:
        rows = rows.filter(state=state.value)
    if cursor:
        rows = rows.filter(pk__lt=UUID(str(decode_cursor(cursor, query).position[0])))
    found = list(rows.order_by("-pk")[: limit + 1])
    following = encode_cursor([str(found[limit - 1].pk)], query) if len(found) > limit else None
    return DeliveryPage(found[:limit], following)


def redeliver(access: Access, webhook_id: str | UUID, delivery_id: str | UUID) -> Delivery:
    """Send one again now, under the same id, with a new set of attempts. Needs webhooks:admin.

    Raises NotFound, WebhookNotActive.
    """
    webhook = _active(access, webhook_id)
    with transaction.atomic():
        found = webhook.deliveries.select_for_update().filter(pk=parse_id(delivery_id)).first()
        if found is None:
            raise NotFound("There is no such delivery of this webhook.")
        found.state, found.attempts, found.due_at = DeliveryState.WAITING.value, 0, now()
        found.lease_until = found.ended_at = None
        found.save(update_fields=["state", "attempts", "due_at", "lease_until", "ended_at"])
        Webhook.objects.filter(pk=webhook.pk).update(rests_until=None)
        record_audit(access, Audited("redeliver", "delivery", found.pk))
        transaction.on_commit(nudge_deliveries, robust=True)
    return found


def send_test(access: Access, webhook_id: str | UUID) -> Delivery:
    """Have the endpoint told of nothing but a test. Needs webhooks:admin. Raises NotFound, WebhookNotActive."""
    webhook = _active(access, webhook_id)
    with transaction.atomic():
        delivery = Delivery.objects.create(vault_id=access.vault_id, webhook=webhook, event=TEST)
        Webhook.objects.filter(pk=webhook.pk).update(rests_until=None)
        transaction.on_commit(nudge_deliveries, robust=True)
    return delivery


def _active(access: Access, webhook_id: str | UUID) -> Webhook:
    webhook = get_webhook(access, webhook_id)
    if webhook.state != WebhookState.ACTIVE:
        raise WebhookNotActive
    return webhook


def fan_out() -> int:
    """Write down whom to tell of what happened since last time; how many deliveries. The hub's own work.

    An endpoint's place in the stream moves in the same transaction, so nothing is told twice or missed by a crash.
    """
    complete = horizon.look().complete
    behind = Webhook.objects.filter(state=WebhookState.ACTIVE, position__lt=complete, vault__shredded_at=None)
    return sum(_tell(webhook) for webhook in behind.defer("url", "secret", "old_secret"))


def someone_listens() -> bool:
    """Whether there is an endpoint to be called at all. The hub's own question, asked often."""
    return Webhook.objects.filter(state=WebhookState.ACTIVE).exists()


def listener(webhook: Webhook) -> Access:
    """The hub's own access, reaching no further than whoever made the webhook. Raises NotFound."""
    return acting_under(system_access(webhook.vault_id, f"webhook-{webhook.pk}"), webhook.mandate)


def _tell(webhook: Webhook) -> int:
    before = webhook.position
    wanted = EventQuery(str(before), tuple(webhook.types), PAGE)
    try:
        access = listener(webhook)
        page = list_events(access, wanted)
    except EventsGone:  # it was paused for longer than events are kept
        page = list_events(access, replace(wanted, after=None))
    except HubError as error:
        log.warning("webhook_unusable", webhook_id=str(webhook.pk), error=error.code)
        return 0
    told = [
        Delivery(id=new_id(), vault_id=webhook.vault_id, webhook_id=webhook.pk, event_id=one.id, event=one.type)
        for one in page.items
        if _concerns(webhook, one)
    ]
    with transaction.atomic():
        if not Webhook.objects.filter(pk=webhook.pk, position=before).update(position=page.next):
            return 0  # somebody else was faster
        Delivery.objects.bulk_create(told, ignore_conflicts=True)
    return len(told)


def _concerns(webhook: Webhook, heard: Heard) -> bool:
    """Banks narrow what is heard of memories, and nothing else."""
    if webhook.banks is None or not heard.type.startswith("memory."):
        return True
    mine = {str(one) for one in webhook.banks}
    return not mine.isdisjoint({heard.data.get("bank_id"), heard.data.get("left_bank_id")})


def messages_of(webhook: Webhook, deliveries: Collection[Delivery]) -> dict[UUID, dict[str, object]]:
    """Delivery → what is sent, read from the stream; an event that is gone, or may not be heard any more, has none."""
    ids = [one.event_id for one in deliveries if one.event_id is not None]
    heard = read_events(listener(webhook), ids) if ids else {}
    found: dict[UUID, dict[str, object]] = {}
    for one in deliveries:
        if one.event_id is None:
            data: dict[str, object] = {"webhook_id": str(webhook.pk)}
            found[one.pk] = {"type": TEST, "timestamp": one.created_at, "data": data}
        elif (event := heard.get(one.event_id)) is not None:
            actor = {"kind": event.actor.kind, "id": event.actor.id}
            data = {**event.data, "event_id": str(event.id), "actor": actor, "request_id": event.request_id}
            found[one.pk] = {"type": event.type, "timestamp": event.at, "data": data}
    return found


def forget_deliveries(access: Access, memory_ids: Collection[UUID]) -> int:
    """Forget what endpoints answered when they were told of these memories; how many answers. Part of erasing them."""
    told = AuditEntry.objects.filter(vault_id=access.vault_id, target_id__in=list(memory_ids)).exclude(event="")
    rows = Delivery.objects.filter(vault_id=access.vault_id, event_id__in=list(told.values_list("id", flat=True)))
    return rows.filter(answer__isnull=False).update(answer=None)


def trim_deliveries() -> int:
    """Delete deliveries that ended longer ago than their vault keeps events; how many. The hub's own sweep."""
    trimmed = 0
    for vault_id in Webhook.objects.order_by().values_list("vault_id", flat=True).distinct():
        with gate.session():
            kept = dt.timedelta(days=effective_settings(system_access(vault_id))["events_days"].value)
        old = Delivery.objects.filter(vault_id=vault_id, created_at__lt=now() - kept)
        ended = old.exclude(state=DeliveryState.WAITING.value).values_list("pk", flat=True)[:TRIMMED_AT_ONCE]
        trimmed += Delivery.objects.filter(pk__in=list(ended)).delete()[0]
    return trimmed
