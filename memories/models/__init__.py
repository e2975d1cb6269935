"""What is remembered, how it is found, how it changed, and the work still to do."""

from __future__ import annotations

from memories.models.history import Changeset, ChangesetItem, MigrationRecord, Revision
from memories.models.idempotency import IdempotencyRecord
from memories.models.job import Job
from memories.models.link import Link
from memories.models.memory import Memory
from memories.models.retrieval import Embedding, EmbeddingSpace, MemoryIndex, Posting, PostingChunk, VaultSpace

__all__ = [
    "Changeset",
    "ChangesetItem",
    "Embedding",
    "EmbeddingSpace",
    "IdempotencyRecord",
    "Job",
    "Link",
    "Memory",
    "MemoryIndex",
    "MigrationRecord",
    "Posting",
    "PostingChunk",
    "Revision",
    "VaultSpace",
]
