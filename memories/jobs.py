"""Names of background work; no work here."""

from __future__ import annotations

from enum import StrEnum


class JobKind(StrEnum):
    """What a worker can be asked to do; ``memories.tasks`` has a body for each."""

    EMBED_MEMORIES = "embed_memories"
    KEEP_INDEX = "keep_index"
    CHECK_UPDATES = "check_updates"
    EXTRACT_SESSION = "extract_session"
    SUMMARIZE_SESSION = "summarize_session"
    SUMMARIZE_MEMORIES = "summarize_memories"
    DREAM = "dream"
    UNDO_CHANGESET = "undo_changeset"
    APPLY_CLEANUP = "apply_cleanup"
    PLAN_CLEANUP = "plan_cleanup"
    REEMBED_MEMORIES = "reembed_memories"
    RESEAL_MEMORIES = "reseal_memories"
    REINDEX_MEMORIES = "reindex_memories"
    BULK_CHANGE = "bulk_change"
    ERASE_SUBJECT = "erase_subject"
    ENFORCE_RETENTION = "enforce_retention"
    IMPORT_VAULT = "import_vault"
