"""What search reads: keyed token hashes and vectors. Derived from content, rebuilt at any time."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from pgvector.django import HalfVectorField

from banks.models import Vault
from memories.models.memory import Memory
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.tenancy import VaultReference, owned_by_vault

INDEX_VERSION = 1


class MemoryIndex(models.Model):
    """The blind keyword index of one memory: HMAC'd tokens, their counts, the length in tokens (CON-07, SRC-03).

    A table of its own because it changes only with the content, while the memory's row is touched by every recall.
    """

    memory: models.OneToOneField[Any, Any] = models.OneToOneField(
        Memory, models.CASCADE, primary_key=True, related_name="keyword_index", db_constraint=False
    )
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    terms = ArrayField(models.BigIntegerField(), default=list)
    tfs = ArrayField(models.SmallIntegerField(), default=list)
    doc_len = models.IntegerField(default=0)
    index_version = models.PositiveSmallIntegerField(default=INDEX_VERSION)

    class Meta:
        constraints = (VaultReference(field="memory", to="memories.Memory", name="memoryindex_memory_same_vault"),)
        # Token hashes are keyed per vault, so equal hashes mean equal vaults: no vault column is needed in the index.
        indexes = (GinIndex(fields=["terms"], name="memoryindex_terms"),)

    def __str__(self) -> str:
        return f"keyword index of {self.pk}"


class EmbeddingSpace(models.Model):
    """One embedder's geometry. Vectors of different spaces are never compared (DEG-13)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    dimensions = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["provider", "model", "dimensions"], name="space_once"),)

    def __str__(self) -> str:
        return f"{self.provider}/{self.model} ({self.dimensions})"


class VaultSpace(models.Model):
    """Which space a vault searches in; another one may be building beside it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="spaces", db_index=False)
    space: models.ForeignKey[Any, Any] = models.ForeignKey(EmbeddingSpace, models.PROTECT, related_name="+")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=now)

    class Meta:
        constraints = (
            owned_by_vault("vaultspace"),
            models.UniqueConstraint(fields=["vault", "space"], name="vaultspace_once"),
            models.UniqueConstraint(fields=["vault"], condition=models.Q(is_active=True), name="vaultspace_one_active"),
        )

    def __str__(self) -> str:
        return f"{self.vault} in {self.space}"


class Embedding(models.Model):
    """The vector of one unit (≤ 900 characters) of a memory in one space."""

    id = models.BigAutoField(primary_key=True)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    memory: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.CASCADE, related_name="embeddings", db_constraint=False, db_index=False
    )
    space: models.ForeignKey[Any, Any] = models.ForeignKey(
        EmbeddingSpace, models.PROTECT, related_name="+", db_index=False
    )
    unit = models.PositiveSmallIntegerField(default=0)
    vector = HalfVectorField()

    class Meta:
        constraints = (
            VaultReference(field="memory", to="memories.Memory", name="embedding_memory_same_vault"),
            models.UniqueConstraint(fields=["memory", "space", "unit"], name="embedding_once"),
        )
        indexes = (models.Index(fields=["vault", "space"], name="embedding_vault_space"),)

    def __str__(self) -> str:
        return f"unit {self.unit} of {self.memory_id}"
