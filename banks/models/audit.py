"""Who did what, in ids only."""

from __future__ import annotations

from typing import Any

from django.db import models

from banks.models.vault import Vault
from memoryhub.lib.clock import now
from memoryhub.lib.tenancy import owned_by_vault


class AuditEntry(models.Model):
    """One mutation. Written in the mutation's transaction; the hash chain is filled in later by a job."""

    id = models.BigAutoField(primary_key=True)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, null=True, related_name="audit", db_constraint=False, db_index=False
    )
    at = models.DateTimeField(default=now)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=40, blank=True)
    action = models.CharField(max_length=40)
    target_kind = models.CharField(max_length=30)
    target_id = models.UUIDField(null=True)
    version_before = models.IntegerField(null=True)
    version_after = models.IntegerField(null=True)
    #: What happened together: the changeset, or the receipt of an erasure.
    changeset_id = models.UUIDField(null=True)
    request_id = models.CharField(max_length=64, blank=True)
    #: What listeners are told of it, empty when they are told nothing; and of a shared memory, the bank it was in.
    event = models.CharField(max_length=40, blank=True, default="", db_default="")
    bank_id = models.UUIDField(null=True)
    #: Of a shared memory that was moved with it, the bank it left: who reaches only that one is told, too.
    left_bank_id = models.UUIDField(null=True)
    #: Through which door it came; empty in rows older than the column.
    door = models.CharField(max_length=8, blank=True, default="", db_default="")
    chain_hash = models.BinaryField(null=True)

    class Meta:
        ordering = ("-id",)
        constraints = (owned_by_vault("audit"),)
        indexes = (
            models.Index(fields=["vault", "target_id"], name="audit_vault_target"),
            models.Index(
                fields=["vault", "changeset_id"], condition=~models.Q(changeset_id=None), name="audit_changeset"
            ),
        )

    def __str__(self) -> str:
        return f"{self.action} {self.target_kind}"
