"""Pairs of memories that say much the same, for a person to decide about."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from banks.models import Vault
from memories.models.history import Changeset
from memories.models.memory import Memory
from memories.rules.vocabulary import Difference, PairKind, PairState, choices, words
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedTextField
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


class DuplicatePair(models.Model):
    """Two memories that are close and were both kept. A decided pair stays, so that it never comes back."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    older: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    newer: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.CASCADE, related_name="+", db_constraint=False
    )
    #: On the reference scale; identical texts have 1.
    similarity = models.FloatField()
    kind = models.CharField(max_length=13, choices=choices(PairKind))
    #: In what the texts differ, as kinds, never as words.
    differences = ArrayField(models.CharField(max_length=10, choices=choices(Difference)), default=list)
    state = models.CharField(max_length=13, choices=choices(PairState), default=PairState.OPEN.value)
    decided_by_kind = models.CharField(max_length=10, blank=True)
    decided_by_id = models.CharField(max_length=40, blank=True)
    decided_at = models.DateTimeField(null=True)
    reason = SealedTextField(null=True)
    #: What the decision changed in the memories.
    changeset: models.ForeignKey[Any, Any] = models.ForeignKey(
        Changeset, models.SET_NULL, null=True, related_name="+", db_constraint=False, db_index=False
    )
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (
            owned_by_vault("duplicatepair"),
            VaultReference(field="older", to="memories.Memory", name="duplicatepair_older_same_vault"),
            VaultReference(field="newer", to="memories.Memory", name="duplicatepair_newer_same_vault"),
            VaultReference(field="changeset", to="memories.Changeset", name="duplicatepair_changeset_same_vault"),
            models.UniqueConstraint(fields=["older", "newer"], name="duplicatepair_once"),
            models.CheckConstraint(condition=~Q(older=F("newer")), name="duplicatepair_not_itself"),
            models.CheckConstraint(condition=Q(kind__in=words(PairKind)), name="duplicatepair_kind_known"),
            models.CheckConstraint(condition=Q(state__in=words(PairState)), name="duplicatepair_state_known"),
        )
        indexes = (
            models.Index(
                fields=["vault", "-created_at", "-id"], condition=Q(state="open"), name="duplicatepair_waiting"
            ),
        )

    def __str__(self) -> str:
        return f"{self.older_id} and {self.newer_id} ({self.state})"
