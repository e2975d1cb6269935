"""Chosen values of the one settings schema (``memories.rules.settings``)."""

from __future__ import annotations

from typing import Any

from django.db import models

from banks.models.vault import Vault
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.tenancy import owned_by_vault


class SettingValue(models.Model):
    """``target`` is the bank's or agent's id, empty for the levels system and vault."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, null=True, blank=True, related_name="settings", db_index=False
    )
    level = models.CharField(max_length=10, choices=[(level, level) for level in ("system", "vault", "bank", "agent")])
    target = models.UUIDField(null=True, blank=True)
    key = models.CharField(max_length=80)
    value: models.JSONField[Any, Any] = models.JSONField()
    updated_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("level", "key")
        constraints = (
            owned_by_vault("setting"),
            models.UniqueConstraint(
                fields=["vault", "level", "target", "key"], name="setting_once", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=models.Q(level="system", vault=None) | (~models.Q(level="system") & ~models.Q(vault=None)),
                name="setting_system_has_no_vault",
            ),
        )

    def __str__(self) -> str:
        return f"{self.level}: {self.key}"
