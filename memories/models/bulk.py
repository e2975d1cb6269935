"""What a bulk change has still to do. Rows go with what they did, so a killed job goes on with those that are left."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models

from banks.models import Vault
from memories.models.history import Changeset
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedJSONField
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


class BulkBatch(models.Model):
    """Memories that wait for one bulk change, changed in one transaction."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    changeset: models.ForeignKey[Any, Any] = models.ForeignKey(
        Changeset, models.CASCADE, related_name="batches", db_constraint=False
    )
    memory_ids = ArrayField(models.UUIDField(), default=list)
    #: The action and its parameter.
    given = SealedJSONField()

    class Meta:
        constraints = (
            owned_by_vault("bulkbatch"),
            VaultReference(field="changeset", to="memories.Changeset", name="bulkbatch_changeset_same_vault"),
        )

    def __str__(self) -> str:
        return f"{len(self.memory_ids)} of {self.changeset_id}"
