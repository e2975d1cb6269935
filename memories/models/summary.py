"""Which memories became one summary, and why. The summary itself is a memory."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models

from banks.models import Vault
from memories.models.history import Changeset
from memories.models.memory import Memory
from memories.rules.limits import LABEL_MAX
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


class ClusterSummary(models.Model):
    """One summary that was written. It goes with the memory that holds it (CLU-12, CLU-19)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    memory: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.CASCADE, related_name="summary_of", db_constraint=False
    )
    changeset: models.ForeignKey[Any, Any] = models.ForeignKey(
        Changeset, models.SET_NULL, null=True, related_name="summaries", db_constraint=False
    )
    #: A keyed hash of the members' ids and texts: the same memories are not summarised again, also when it was undone.
    fingerprint = models.BinaryField(editable=False)
    strategy = models.CharField(max_length=12)
    #: The least similarity between two members, on the reference scale; None where labels alone decided.
    similarity = models.FloatField(null=True)
    #: Tags and fact keys that at least two members share.
    shared = ArrayField(models.CharField(max_length=LABEL_MAX + 10), default=list)
    members = models.PositiveSmallIntegerField()
    #: A language model wrote it; otherwise sentences were chosen.
    by_model = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (
            owned_by_vault("clustersummary"),
            VaultReference(field="memory", to="memories.Memory", name="clustersummary_memory_same_vault"),
            VaultReference(field="changeset", to="memories.Changeset", name="clustersummary_changeset_same_vault"),
            models.UniqueConstraint(fields=["memory"], name="clustersummary_once"),
        )
        indexes = (models.Index(fields=["vault", "fingerprint"], name="clustersummary_fingerprint"),)

    def __str__(self) -> str:
        return f"summary of {self.members}: {self.memory_id}"
