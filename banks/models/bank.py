"""A topic inside a vault."""

from __future__ import annotations

from typing import Any

from django.db import models

from banks.models.vault import Vault
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.tenancy import owned_by_vault


class Bank(models.Model):
    """Names are compared trimmed and without case (``name_key``) and kept as written (BNK-13)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="banks", db_index=False)
    name = models.CharField(max_length=50)
    name_key = models.CharField(max_length=100, editable=False)
    slug = models.SlugField(max_length=60)
    description = models.CharField(max_length=500, blank=True, default="")
    is_default = models.BooleanField(default=False)
    is_hidden = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=now)
    updated_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("vault", "name")
        constraints = (
            owned_by_vault("bank"),
            models.UniqueConstraint(fields=["vault", "name_key"], name="bank_name_once"),
            models.UniqueConstraint(fields=["vault", "slug"], name="bank_slug_once"),
            models.UniqueConstraint(fields=["vault"], condition=models.Q(is_default=True), name="bank_one_default"),
            models.CheckConstraint(
                condition=~models.Q(is_default=True, is_hidden=True), name="bank_default_is_visible"
            ),
        )

    def __str__(self) -> str:
        return self.name
