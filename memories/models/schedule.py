"""When a vault's periodic work was last begun, and when it is due again."""

from __future__ import annotations

from typing import Any

from django.db import models

from banks.models import Vault
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.tenancy import owned_by_vault


class Schedule(models.Model):
    """One kind of periodic work in one vault. ``due_at`` was worked out from the settings of ``config_version``."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=40)
    last_at = models.DateTimeField(default=now)
    #: None while the vault's settings switch it off.
    due_at = models.DateTimeField(null=True)
    config_version = models.IntegerField()

    class Meta:
        ordering = ("kind",)
        constraints = (
            owned_by_vault("schedule"),
            models.UniqueConstraint(fields=["vault", "kind"], name="schedule_once"),
        )

    def __str__(self) -> str:
        return f"{self.kind}, due {self.due_at}"
