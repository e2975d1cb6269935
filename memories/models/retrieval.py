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
    """The blind keyword index of one unit of a memory: HMAC'd tokens, their counts, lengths (CON-07, SRC-03).

    A unit is a document of its own with a number of its own; a memory counts as its best one. A table of its own
    because it changes only with the content, while the memory's row is touched by every recall.
    """

    id = models.BigAutoField(primary_key=True)
    memory: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.CASCADE, related_name="keyword_index", db_constraint=False, db_index=False
    )
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    unit = models.PositiveSmallIntegerField(default=0)
    terms = ArrayField(models.BigIntegerField(), default=list)
    tfs = ArrayField(models.SmallIntegerField(), default=list)
    doc_len = models.IntegerField(default=0)
    #: The unit's length in characters: a window of neighbours is measured without opening what is sealed.
    chars = models.PositiveSmallIntegerField(default=0)
    doc_no = models.IntegerField()
    #: Its tokens are in the packed postings; until then it is found by the GIN index below.
    is_compacted = models.BooleanField(default=False)
    index_version = models.PositiveSmallIntegerField(default=INDEX_VERSION)

    class Meta:
        constraints = (
            VaultReference(field="memory", to="memories.Memory", name="memoryindex_memory_same_vault"),
            models.UniqueConstraint(fields=["memory", "unit"], name="memoryindex_once"),
            models.UniqueConstraint(fields=["vault", "doc_no"], include=["memory"], name="memoryindex_doc_no"),
        )
        # Token hashes are keyed per vault, so equal hashes mean equal vaults: no vault column is needed in the first.
        indexes = (
            GinIndex(fields=["terms"], condition=models.Q(is_compacted=False), name="memoryindex_tail_terms"),
            models.Index(
                fields=["vault", "doc_no"],
                include=["doc_len"],
                condition=models.Q(is_compacted=False),
                name="memoryindex_tail",
            ),
        )

    def __str__(self) -> str:
        return f"keyword index of unit {self.unit} of {self.memory_id}"


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
    #: The vault's own HNSW index over this space is built and may be used.
    has_graph = models.BooleanField(default=False)
    #: When another space took its place; its vectors go as soon as nobody can be reading them.
    retired_at = models.DateTimeField(null=True)
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
    #: Not in the vault's HNSW index yet (or ever, in a small vault): scanned exactly.
    in_tail = models.BooleanField(default=True)

    class Meta:
        constraints = (
            VaultReference(field="memory", to="memories.Memory", name="embedding_memory_same_vault"),
            models.UniqueConstraint(fields=["memory", "space", "unit"], name="embedding_once"),
        )
        indexes = (
            models.Index(fields=["vault", "space"], name="embedding_vault_space"),
            models.Index(fields=["vault", "space"], condition=models.Q(in_tail=True), name="embedding_tail"),
        )

    def __str__(self) -> str:
        return f"unit {self.unit} of {self.memory_id}"


class Posting(models.Model):
    """Packed postings of one keyed term in one chunk of documents (``memories.index.postings``)."""

    id = models.BigAutoField(primary_key=True)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    term = models.BigIntegerField()
    chunk = models.IntegerField()
    body = models.BinaryField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["vault", "term", "chunk"], name="posting_once"),)

    def __str__(self) -> str:
        return f"postings of a term in chunk {self.chunk}"


class PostingChunk(models.Model):
    """How many documents of a chunk are compacted, and how long they are together: what BM25 weighs with."""

    id = models.BigAutoField(primary_key=True)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    chunk = models.IntegerField()
    documents = models.IntegerField(default=0)
    total_length = models.BigIntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["vault", "chunk"], name="postingchunk_once"),)

    def __str__(self) -> str:
        return f"chunk {self.chunk}"
