"""Who was given which memories, when, and for what question."""

from __future__ import annotations

from typing import Any

from django.db import models

from banks.models import Vault
from memories.models.memory import Memory
from memories.rules.vocabulary import AccessPurpose, ActorKind, choices
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedTextField
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


class Lookup(models.Model):
    """One request that memories were given out for. The question is sealed, once for all of its memories."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    purpose = models.CharField(max_length=8, choices=choices(AccessPurpose))
    actor_kind = models.CharField(max_length=10, choices=choices(ActorKind))
    actor_id = models.CharField(max_length=40, blank=True)
    #: The agent of the key that asked.
    agent_id = models.CharField(max_length=40, null=True)
    #: None for reads by id, and when a memory it found was erased since.
    query = SealedTextField(null=True)
    at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("-id",)
        constraints = (owned_by_vault("lookup"),)
        indexes = (models.Index(fields=["vault", "at"], name="lookup_vault_at"),)

    def __str__(self) -> str:
        return f"{self.purpose} at {self.at:%Y-%m-%d %H:%M:%S}"


class MemoryAccess(models.Model):
    """One memory given out for one lookup: a line of its access log."""

    id = models.BigAutoField(primary_key=True)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    memory: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.CASCADE, related_name="accesses", db_constraint=False, db_index=False
    )
    lookup: models.ForeignKey[Any, Any] = models.ForeignKey(
        Lookup, models.CASCADE, related_name="accesses", db_constraint=False
    )
    #: Its place among the hits, from 1; None for what was asked for by its id.
    rank = models.PositiveSmallIntegerField(null=True)
    score = models.FloatField(null=True)

    class Meta:
        verbose_name_plural = "memory accesses"
        constraints = (
            VaultReference(field="memory", to="memories.Memory", name="memoryaccess_memory_same_vault"),
            VaultReference(field="lookup", to="memories.Lookup", name="memoryaccess_lookup_same_vault"),
            # Ids of lookups grow with time, so this is also the order a memory's log is read in.
            models.UniqueConstraint(fields=["memory", "lookup"], name="memoryaccess_once"),
        )

    def __str__(self) -> str:
        return f"access to {self.memory_id}"
