"""API keys: shown once, stored as a keyed hash."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from banks.models.agent import Agent
from banks.models.bank import Bank
from banks.models.vault import Vault
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    """Keys by how far they reach."""

    def within(self, bank_ids: Collection[UUID] | None) -> ApiKeyQuerySet:
        """Those that reach no bank but these; all of them for None."""
        if bank_ids is None:
            return self
        beyond = KeyBank.objects.filter(key=models.OuterRef("pk")).exclude(bank_id__in=bank_ids)
        return self.filter(~models.Exists(beyond), all_banks=False)


class ApiKey(models.Model):
    """``public_id`` finds the row, ``digest`` proves the secret. No rows in ``banks`` means every bank."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="api_keys", db_index=False
    )
    agent: models.ForeignKey[Any, Any] = models.ForeignKey(
        Agent, models.CASCADE, null=True, blank=True, related_name="api_keys", db_constraint=False
    )
    name = models.CharField(max_length=100)
    public_id = models.CharField(max_length=8, unique=True)
    digest = models.BinaryField()
    scopes = ArrayField(models.CharField(max_length=40), default=list)
    all_banks = models.BooleanField(default=True)
    banks: models.ManyToManyField[Any, Any] = models.ManyToManyField(Bank, through="KeyBank", related_name="+")
    created_by: models.ForeignKey[Any, Any] = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=now)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    rotated_from: models.ForeignKey[Any, Any] = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="+", db_constraint=False
    )

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        ordering = ("vault", "-created_at")
        constraints = (
            owned_by_vault("apikey"),
            VaultReference(field="agent", to="banks.Agent", name="apikey_agent_same_vault"),
            VaultReference(field="rotated_from", to="banks.ApiKey", name="apikey_rotated_from_same_vault"),
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix})"

    @property
    def prefix(self) -> str:
        """The part that may be shown."""
        return f"mh_live_{self.public_id}"


class KeyBank(models.Model):
    """One bank a key is limited to."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    key: models.ForeignKey[Any, Any] = models.ForeignKey(ApiKey, models.CASCADE, db_constraint=False)
    bank: models.ForeignKey[Any, Any] = models.ForeignKey(Bank, models.CASCADE, db_constraint=False)

    class Meta:
        constraints = (
            owned_by_vault("keybank"),
            VaultReference(field="key", to="banks.ApiKey", name="keybank_key_same_vault"),
            VaultReference(field="bank", to="banks.Bank", name="keybank_bank_same_vault"),
            models.UniqueConstraint(fields=["key", "bank"], name="keybank_once"),
        )

    def __str__(self) -> str:
        return f"{self.key} on {self.bank}"
