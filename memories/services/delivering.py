"""Tell the endpoints: one worker process at a time, many calls beside each other, none waiting for another.

The main loop does everything with the database; threads only send. An endpoint that has not answered well yet gets one
call at a time, and after a failure it is left alone for a while: so one that hangs holds one thread for ten seconds,
rarely, while the others go on.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

import structlog
from django.db import connection, transaction
from django.db.models import Q
from pydantic_core import to_json

from banks.access import Access, mandate_stands, system_access
from memories.models import Delivery, Webhook
from memories.rules.webhooks import (
    ANSWER_MAX,
    GIVEN_UP_AFTER,
    DeliveryState,
    WebhookState,
    pause_after,
    rest_after,
    signature,
)
from memories.services.deliveries import fan_out, messages_of
from memories.services.webhooks import ENDED, disable
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError
from memoryhub.lib.posting import Answer, Poster
from memoryhub.lib.sealing import gate

THREADS = 32
#: Calls to one endpoint at the same time, once it has answered one well.
AT_ONCE = 6
#: Deliveries of one endpoint taken from the database together, how long they are this process's own, and after how many
#: seconds it says so again: what a killed one had taken is sent by the next one soon.
TAKEN, LEASE, RENEWS_EVERY = 100, dt.timedelta(seconds=30), 10.0
#: A round ends after so many seconds, or when nothing came for a moment; the next one goes on.
LONGEST, LINGERS, TICK, TAKES_EVERY = 45.0, 1.0, 0.05, 0.2
#: An endpoint whose secrets do not open is looked at again after so long.
UNUSABLE_FOR = dt.timedelta(hours=1)
_ONE_AT_A_TIME = 0x6D68_7765_6268_6F6F

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Message:
    """One delivery, ready to be sent."""

    delivery: Delivery
    body: bytes
    headers: Mapping[str, str]


@dataclass(slots=True)
class _Line:
    """One endpoint's queue in this round."""

    webhook: Webhook
    access: Access
    url: str
    poster: Poster
    waiting: list[_Message] = field(default_factory=list)
    flying: int = 0
    proven: bool = False
    ended: list[tuple[Delivery, Answer]] = field(default_factory=list)

    def put(self, rows: list[Delivery]) -> int:
        """Queue what can be told; what is gone meanwhile never will be. How many were settled either way."""
        said, secrets = messages_of(self.webhook, rows), self._secrets()
        self.waiting += [_message(row, said[row.pk], secrets) for row in rows if row.pk in said]
        gone = [row.pk for row in rows if row.pk not in said]
        Delivery.objects.filter(pk__in=gone).update(
            state=DeliveryState.FAILED.value, error="event_gone", ended_at=now(), lease_until=None
        )
        return len(rows)

    def _secrets(self) -> list[str]:
        webhook = self.webhook
        overlaps = webhook.old_secret and webhook.old_until and webhook.old_until > now()
        return [webhook.secret, webhook.old_secret] if overlaps else [webhook.secret]

    @property
    def free(self) -> int:
        """How many calls more it may get now."""
        return (AT_ONCE if self.proven else 1) - self.flying


def deliver_webhooks(seconds: float = LONGEST) -> int:
    """Tell endpoints what they wait for; how many calls were made. Returns at once while another process does it."""
    with _alone() as alone, gate.session():
        return _Round(time.monotonic() + seconds).run() if alone else 0


@contextmanager
def _alone() -> Iterator[bool]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_ONE_AT_A_TIME])
        (alone,) = cursor.fetchone()
    try:
        yield alone
    finally:
        if alone:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_ONE_AT_A_TIME])


class _Round:
    """Everything between two starts."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.lines: dict[UUID, _Line] = {}
        self.flying: dict[Future[Answer], tuple[_Line, Delivery]] = {}
        self.calls = 0

    def run(self) -> int:
        """Until there is nothing left to do, or the time is over."""
        quiet_since = renewed_at = time.monotonic()
        taken_at = 0.0
        with ThreadPoolExecutor(THREADS, "webhook") as pool:
            while (at := time.monotonic()) < self.until:
                idle = not any(line.waiting for line in self.lines.values())
                if (idle or at >= taken_at + TAKES_EVERY) and self._take():
                    quiet_since = at
                taken_at = at if idle or at >= taken_at + TAKES_EVERY else taken_at
                quiet_since = at if self.flying else quiet_since
                if at >= renewed_at + RENEWS_EVERY:
                    self._renew()
                    renewed_at = at
                self._send(pool)
                self._land(TICK)
                if at - quiet_since > LINGERS:
                    break
            while self.flying:
                self._land(1.0)
        self._give_back()
        for line in self.lines.values():
            line.poster.close()
        return self.calls

    def _take(self) -> int:
        """New events become deliveries, and due ones are taken; how many."""
        fan_out()
        at, taken = now(), 0
        with connection.cursor() as cursor:
            cursor.execute(_DUE, [at + LEASE, at, at, TAKEN, at])
            found: dict[UUID, list[UUID]] = defaultdict(list)
            for delivery_id, webhook_id in cursor.fetchall():
                found[webhook_id].append(delivery_id)
        for webhook_id, ids in found.items():
            taken += self._queue(webhook_id, ids)
        return taken

    def _queue(self, webhook_id: UUID, ids: list[UUID]) -> int:
        """Make messages of deliveries that were taken; how many."""
        webhook = Webhook.objects.select_related("vault").filter(pk=webhook_id).first()
        if webhook is None:
            return 0
        if not mandate_stands(webhook.vault_id, webhook.mandate):
            self._end(webhook)
            return 0
        try:
            return self._line(webhook).put(list(Delivery.objects.filter(pk__in=ids).order_by("due_at", "pk")))
        except HubError as error:
            log.warning("webhook_unusable", webhook_id=str(webhook_id), error=error.code)
            Webhook.objects.filter(pk=webhook_id).update(rests_until=now() + UNUSABLE_FOR)
            Delivery.objects.filter(pk__in=ids).update(lease_until=None)
            return 0

    def _end(self, webhook: Webhook) -> None:
        """Nothing more goes out in the name of who may not listen any more, whatever is waiting."""
        with transaction.atomic():
            found = Webhook.objects.select_for_update().get(pk=webhook.pk)
            disable(system_access(webhook.vault_id, f"webhook-{webhook.pk}"), found, ENDED)
            found.save(update_fields=["state", "why"])
            found.deliveries.exclude(lease_until=None).update(lease_until=None)

    def _line(self, webhook: Webhook) -> _Line:
        access = system_access(webhook.vault_id, f"webhook-{webhook.pk}")
        allowed = webhook.is_private and webhook.private_allowed
        line = self.lines.get(webhook.pk)
        if line is None:
            line = self.lines[webhook.pk] = _Line(webhook, access, webhook.url, Poster(allow_private=allowed))
        elif line.poster.allow_private != allowed:
            line.poster = Poster(allow_private=allowed)
        line.webhook, line.url = webhook, webhook.url
        return line

    def _send(self, pool: ThreadPoolExecutor) -> None:
        """In turns: each endpoint one call after the other, so that a long queue lets a short one through."""
        moved = True
        while moved and len(self.flying) < THREADS:
            moved = False
            for line in self.lines.values():
                if line.waiting and line.free > 0 and len(self.flying) < THREADS:
                    message = line.waiting.pop(0)
                    future = pool.submit(line.poster.post, line.url, message.body, message.headers, ANSWER_MAX)
                    self.flying[future] = (line, message.delivery)
                    line.flying += 1
                    self.calls += 1
                    moved = True

    def _land(self, seconds: float) -> None:
        """Note what came back."""
        if not self.flying:
            time.sleep(seconds)
            return
        done, _ = wait(self.flying, timeout=seconds, return_when=FIRST_COMPLETED)
        touched: dict[UUID, _Line] = {}
        for future in done:
            line, delivery = self.flying.pop(future)
            line.flying -= 1
            line.ended.append((delivery, future.result()))
            touched[line.webhook.pk] = line
        for line in touched.values():
            self._note(line)

    def _note(self, line: _Line) -> None:
        ended, line.ended = line.ended, []
        with transaction.atomic():
            webhook = Webhook.objects.select_for_update().filter(pk=line.webhook.pk).first()
            if webhook is None:  # deleted meanwhile, with its deliveries
                line.waiting.clear()
                return
            for delivery, answer in ended:
                note_answer(line.access, webhook, delivery, answer)
            webhook.save(update_fields=["failures", "failing_since", "rests_until", "state", "why"])
        line.proven = webhook.failures == 0
        if webhook.rests_until is not None or webhook.state != WebhookState.ACTIVE:
            back = [message.delivery.pk for message in line.waiting]
            line.waiting.clear()
            Delivery.objects.filter(pk__in=back).update(lease_until=None)

    def _renew(self) -> None:
        flying = [delivery.pk for _, delivery in self.flying.values()]
        Delivery.objects.filter(pk__in=[*flying, *self._waiting()]).update(lease_until=now() + LEASE)

    def _give_back(self) -> None:
        Delivery.objects.filter(pk__in=self._waiting()).update(lease_until=None)

    def _waiting(self) -> list[UUID]:
        return [message.delivery.pk for line in self.lines.values() for message in line.waiting]


def note_answer(access: Access, webhook: Webhook, delivery: Delivery, answer: Answer) -> None:
    """What an answer means for the delivery and its locked endpoint; the caller saves the endpoint."""
    at = now()
    redirected = answer.status is not None and 300 <= answer.status < 400
    delivery.attempts += 1
    delivery.status, delivery.took_ms, delivery.answer = answer.status, answer.took_ms, answer.body or None
    delivery.error, delivery.lease_until = "redirected" if redirected else answer.error, None
    if answer.is_fine:
        delivery.state, delivery.ended_at = DeliveryState.DELIVERED.value, at
        webhook.failures, webhook.failing_since, webhook.rests_until = 0, None, None
    else:
        pause = pause_after(delivery.attempts)
        if pause is None:
            delivery.state, delivery.ended_at = DeliveryState.FAILED.value, at
        else:
            delivery.due_at = at + pause
        webhook.failures += 1
        webhook.failing_since = webhook.failing_since or at
        webhook.rests_until = at + rest_after(webhook.failures)
        if answer.status == 410:
            disable(access, webhook, "gone")
        elif at - webhook.failing_since > GIVEN_UP_AFTER:
            disable(access, webhook, "failing")
    delivery.save(
        update_fields=[
            *("attempts", "status", "took_ms", "answer", "error", "lease_until", "state", "ended_at", "due_at")
        ]
    )


def _message(delivery: Delivery, said: Mapping[str, object], secrets: list[str]) -> _Message:
    body = to_json(said)
    at, message_id = int(now().timestamp()), delivery.message_id
    headers = {
        "content-type": "application/json",
        "user-agent": "MemoryHub-Webhooks/1",
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": signature(secrets, message_id, at, body),
    }
    return _Message(delivery, body, headers)


def has_waiting() -> bool:
    """Whether some endpoint may be behind, or has something due; a cheap question. The hub's own."""
    due = Q(deliveries__state=DeliveryState.WAITING.value, deliveries__due_at__lte=now())
    rested = Q(rests_until=None) | Q(rests_until__lte=now())
    return Webhook.objects.filter(due, rested, state=WebhookState.ACTIVE).exists()


_DUE = """
    UPDATE memories_delivery SET lease_until = %s FROM (
        SELECT d.id FROM memories_webhook w, LATERAL (
            SELECT id FROM memories_delivery
            WHERE webhook_id = w.id AND state = 'waiting' AND due_at <= %s
              AND (lease_until IS NULL OR lease_until < %s)
            ORDER BY due_at LIMIT %s FOR UPDATE SKIP LOCKED
        ) d
        WHERE w.state = 'active' AND (w.rests_until IS NULL OR w.rests_until <= %s)
    ) due
    WHERE memories_delivery.id = due.id RETURNING memories_delivery.id, memories_delivery.webhook_id
"""
