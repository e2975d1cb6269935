"""Receipts: that something was erased, when, for whom and how much. Never what it said."""

from __future__ import annotations

from typing import Any

from django.db import models

from banks.models import Vault
from memories.rules.vocabulary import ActorKind, ErasureKind, choices, words
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedTextField
from memoryhub.lib.tenancy import owned_by_vault


class ErasureReceipt(models.Model):
    """Proof of one erasure; until it is signed, an erasure that is still under way.

    The audit names the memories it took: their entries carry the receipt's id as what belongs together.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=9, choices=choices(ErasureKind))
    #: The memory or the conversation, where it was one.
    target_id = models.UUIDField(null=True)
    #: Whose things these are, while they are being erased; a name is a trace, so it goes with the last of them.
    subject = SealedTextField(null=True)
    #: By which somebody who knows the name can tell that the receipt is about it.
    subject_hash = models.BinaryField(null=True)
    #: Kind of thing → how many.
    removed: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: SHA-256 over the ids of the erased memories in ascending order.
    ids_digest = models.BinaryField(null=True)
    actor_kind = models.CharField(max_length=10, choices=choices(ActorKind))
    actor_id = models.CharField(max_length=40, blank=True)
    started_at = models.DateTimeField(default=now)
    finished_at = models.DateTimeField(null=True)
    signature = models.BinaryField(null=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            owned_by_vault("erasurereceipt"),
            models.CheckConstraint(condition=models.Q(kind__in=words(ErasureKind)), name="erasurereceipt_kind_known"),
            models.CheckConstraint(
                condition=models.Q(finished_at=None) | models.Q(subject__isnull=True),
                name="erasurereceipt_names_nobody",
            ),
        )

    def __str__(self) -> str:
        return f"receipt of erasing a {self.kind}"
