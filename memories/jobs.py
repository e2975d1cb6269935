"""Names of background work; no work here."""

from __future__ import annotations

from enum import StrEnum


class JobKind(StrEnum):
    """What a worker can be asked to do; ``memories.tasks`` has a body for each."""

    EMBED_MEMORIES = "embed_memories"
    KEEP_INDEX = "keep_index"
