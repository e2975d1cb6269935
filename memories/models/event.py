"""What happened without being a change somebody made: searches, jobs, guards. Changes are in the audit.

Both draw their ids from one sequence, so together they are one stream with one cursor, and a write that is audited
anyway costs no second row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import models

from banks.access import Actor
from banks.models import Vault
from memories.events import EventType
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.tenancy import owned_by_vault


class Event(models.Model):
    """One thing that happened, in ids. Written in the transaction of its cause; ``id`` is the audit's next number."""

    id = models.BigAutoField(primary_key=True)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    at = models.DateTimeField(default=now)
    event = models.CharField(max_length=40)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=40, blank=True)
    target_kind = models.CharField(max_length=30)
    target_id = models.UUIDField(null=True)
    #: More ids and names of the hub's own, never words of anybody.
    data: models.JSONField[Any, Any] = models.JSONField(default=dict)
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = (owned_by_vault("event"),)
        indexes = (
            # A conversation that is erased is looked for by its id.
            models.Index(
                fields=["vault", "target_id"], condition=models.Q(target_kind="session"), name="event_session"
            ),
        )

    def __str__(self) -> str:
        return self.event


@dataclass(frozen=True, slots=True)
class Happened:
    """What happened to what. ``data`` holds ids only; without an actor the hub itself did it."""

    event: EventType
    target_kind: str
    target_id: UUID | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    actor: Actor | None = None
    request_id: str = ""


def record_events(vault_id: UUID, *happened: Happened) -> None:
    """Write what happened in the running transaction (EVT-05, EVT-07)."""
    insert_rows(
        [
            Event(
                vault_id=vault_id,
                event=one.event.value,
                actor_kind=one.actor.kind if one.actor else "system",
                actor_id=one.actor.id if one.actor else "",
                target_kind=one.target_kind,
                target_id=one.target_id,
                data=dict(one.data),
                request_id=one.request_id,
            )
            for one in happened
        ]
    )
