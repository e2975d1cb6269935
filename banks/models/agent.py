"""A caller, and the banks it prefers."""

from __future__ import annotations

from typing import Any

from django.db import models

from banks.models.bank import Bank
from banks.models.vault import Vault
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


class Agent(models.Model):
    """Who calls: its default bank, whether it sees only its own memories, and how far it can be trusted."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="agents", db_index=False)
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=500, blank=True, default="")
    default_bank: models.ForeignKey[Any, Any] = models.ForeignKey(
        Bank, models.PROTECT, null=True, blank=True, related_name="+", db_constraint=False
    )
    preferred_banks: models.ManyToManyField[Any, Any] = models.ManyToManyField(
        Bank, through="PreferredBank", related_name="preferred_by", blank=True
    )
    is_isolated = models.BooleanField(default=False)
    trust_ceiling = models.CharField(max_length=10, default="verified")
    #: Retired agents keep their memories and their name in history; their keys are revoked.
    retired_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=now)
    updated_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("vault", "name")
        constraints = (
            owned_by_vault("agent"),
            VaultReference(field="default_bank", to="banks.Bank", name="agent_default_bank_same_vault"),
            models.UniqueConstraint(
                fields=["vault", "name"], condition=models.Q(retired_at=None), name="agent_name_once"
            ),
            models.CheckConstraint(
                condition=models.Q(trust_ceiling__in=["untrusted", "inferred", "stated", "verified"]),
                name="agent_trust_ceiling_known",
            ),
        )

    def __str__(self) -> str:
        return self.name


class PreferredBank(models.Model):
    """One bank an agent would rather be reminded of (BNK-08)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    agent: models.ForeignKey[Any, Any] = models.ForeignKey(Agent, models.CASCADE, db_constraint=False)
    bank: models.ForeignKey[Any, Any] = models.ForeignKey(Bank, models.CASCADE, db_constraint=False)

    class Meta:
        constraints = (
            owned_by_vault("preferredbank"),
            VaultReference(field="agent", to="banks.Agent", name="preferredbank_agent_same_vault"),
            VaultReference(field="bank", to="banks.Bank", name="preferredbank_bank_same_vault"),
            models.UniqueConstraint(fields=["agent", "bank"], name="preferredbank_once"),
        )

    def __str__(self) -> str:
        return f"{self.agent} prefers {self.bank}"
