"""What is remembered, how it is found, how it changed, and the work still to do."""

from __future__ import annotations

from memories.models.bulk import BulkBatch
from memories.models.cleanup import CleanupCluster, CleanupExemption, CleanupPlan, CleanupPlanItem
from memories.models.dream import CoreDocument, CoreVersion, Dream
from memories.models.duplicate import DuplicatePair
from memories.models.erasure import ErasureReceipt
from memories.models.event import Event, Happened, record_events
from memories.models.history import Changeset, ChangesetItem, MigrationRecord, Revision
from memories.models.idempotency import IdempotencyRecord
from memories.models.job import Job
from memories.models.link import Link
from memories.models.lookup import Lookup, MemoryAccess
from memories.models.memory import Memory
from memories.models.modelcall import CallGuard, ModelCall
from memories.models.note import DailyNote, NoteLine
from memories.models.retrieval import Embedding, EmbeddingSpace, MemoryIndex, Posting, PostingChunk, VaultSpace
from memories.models.rollup import GuardSpell, Rollup, Tally
from memories.models.savedview import SavedView
from memories.models.schedule import Schedule
from memories.models.session import Message, Session
from memories.models.summary import ClusterSummary
from memories.models.transfer import ImportChunk, VaultImport
from memories.models.webhook import Delivery, Webhook

__all__ = [
    "BulkBatch",
    "CallGuard",
    "Changeset",
    "ChangesetItem",
    "CleanupCluster",
    "CleanupExemption",
    "CleanupPlan",
    "CleanupPlanItem",
    "ClusterSummary",
    "CoreDocument",
    "CoreVersion",
    "DailyNote",
    "Delivery",
    "Dream",
    "DuplicatePair",
    "Embedding",
    "EmbeddingSpace",
    "ErasureReceipt",
    "Event",
    "GuardSpell",
    "Happened",
    "IdempotencyRecord",
    "ImportChunk",
    "Job",
    "Link",
    "Lookup",
    "Memory",
    "MemoryAccess",
    "MemoryIndex",
    "Message",
    "MigrationRecord",
    "ModelCall",
    "NoteLine",
    "Posting",
    "PostingChunk",
    "Revision",
    "Rollup",
    "SavedView",
    "Schedule",
    "Session",
    "Tally",
    "VaultImport",
    "VaultSpace",
    "Webhook",
    "record_events",
]
