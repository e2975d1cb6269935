"""The REST routes of memories: parse, ask one service function, shape the answer."""

from __future__ import annotations

from ninja import Router

from memories.api.cleanup import router as cleanup_router
from memories.api.history import router as history_router
from memories.api.jobs import router as jobs_router
from memories.api.lifecycle import router as lifecycle_router
from memories.api.memories import router as memories_router
from memories.api.recall import router as recall_router
from memories.api.relations import router as relations_router
from memories.api.settings import router as settings_router

router = Router()
# First match wins, so the fixed paths (/memories/search) come before /memories/{id}.
for _router, _tag in (
    (recall_router, "recall"),
    (memories_router, "memories"),
    (lifecycle_router, "lifecycle"),
    (relations_router, "relations"),
    (cleanup_router, "clean-up"),
    (jobs_router, "operations"),
    (history_router, "operations"),
    (settings_router, "settings"),
):
    router.add_router("", _router, tags=[_tag])
