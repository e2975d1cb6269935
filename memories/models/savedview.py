"""Lists that people come back to."""

from __future__ import annotations

from typing import Any

from django.db import models

from banks.models import Vault
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedTextField
from memoryhub.lib.tenancy import owned_by_vault


class SavedView(models.Model):
    """The address of a list under a name. Both are sealed: what somebody searches for may quote what is remembered."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    #: The kind and id of whoever made it.
    owner = models.CharField(max_length=60)
    name = SealedTextField()
    #: Filters, text, order and columns, as they stand in the address of the list.
    address = SealedTextField()
    is_shared = models.BooleanField(default=False)
    is_pinned = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("id",)
        constraints = (owned_by_vault("savedview"),)

    def __str__(self) -> str:
        return f"saved view {self.pk}"
