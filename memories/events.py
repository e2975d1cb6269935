"""Names of what happens, as listeners hear them (CON-27); nothing happens here."""

from __future__ import annotations

from enum import StrEnum


class EventType(StrEnum):
    """What an event can be about. What `banks` does is named here too, so that there is one list."""

    MEMORY_ADDED = "memory.added"
    MEMORY_SEARCHED = "memory.searched"
    MEMORY_CLEARED = "memory.cleared"
    MEMORY_UPDATED = "memory.updated"
    MEMORY_SUPERSEDED = "memory.superseded"
    MEMORY_ARCHIVED = "memory.archived"
    MEMORY_RESTORED = "memory.restored"
    MEMORY_ERASED = "memory.erased"
    MEMORY_STATUS_CHANGED = "memory.status_changed"
    MEMORY_EXTRACTED = "memory.extracted"
    MEMORY_DREAMED = "memory.dreamed"
    CLEANUP_PLANNED = "cleanup.planned"
    CLEANUP_STARTED = "cleanup.started"
    CLEANUP_APPLIED = "cleanup.applied"
    CLEANUP_UNDONE = "cleanup.undone"
    JOB_DONE = "job.done"
    JOB_FAILED = "job.failed"
    JOB_DEAD = "job.dead"
    JOB_CANCELLED = "job.cancelled"
    JOB_RETRIED = "job.retried"
    GUARD_ACTIVATED = "guard.activated"
    GUARD_RECOVERED = "guard.recovered"
    GUARD_RESET = "guard.reset"
    KEY_CREATED = "key.created"
    KEY_ROTATED = "key.rotated"
    KEY_REVOKED = "key.revoked"
