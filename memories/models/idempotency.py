"""Answers kept for a day, so that a repeated request is answered and not repeated."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models

from banks.models import Vault
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedJSONField
from memoryhub.lib.tenancy import owned_by_vault


class IdempotencyRecord(models.Model):
    """Per key holder; the request is kept as a keyed fingerprint, the answer sealed."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    actor_id = models.CharField(max_length=40)
    key_hash = models.BinaryField()
    fingerprint = models.BinaryField()
    answer = SealedJSONField(null=True)
    #: Memories the answer shows: erasing one of them forgets the answer.
    memory_ids = ArrayField(models.UUIDField(), default=list)
    created_at = models.DateTimeField(default=now)

    class Meta:
        constraints = (
            owned_by_vault("idempotency"),
            models.UniqueConstraint(fields=["vault", "actor_id", "key_hash"], name="idempotency_once"),
        )
        indexes = (models.Index(fields=["created_at"], name="idempotency_age"),)

    def __str__(self) -> str:
        return f"answer to {self.actor_id}"
