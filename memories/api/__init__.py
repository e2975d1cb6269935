"""The REST routes of memories: parse, ask one service function, shape the answer."""

from __future__ import annotations

from ninja import Router

from memories.api.absence import router as absence_router
from memories.api.accesses import router as accesses_router
from memories.api.bulk import router as bulk_router
from memories.api.changesets import router as changesets_router
from memories.api.cleanup import router as cleanup_router
from memories.api.coredocument import router as coredocument_router
from memories.api.daily import router as daily_router
from memories.api.dreams import router as dreams_router
from memories.api.duplicates import router as duplicates_router
from memories.api.erasures import router as erasures_router
from memories.api.events import router as events_router
from memories.api.history import router as history_router
from memories.api.jobs import router as jobs_router
from memories.api.lifecycle import router as lifecycle_router
from memories.api.memories import router as memories_router
from memories.api.modelcalls import router as modelcalls_router
from memories.api.plans import router as plans_router
from memories.api.recall import router as recall_router
from memories.api.relations import router as relations_router
from memories.api.retention import router as retention_router
from memories.api.sessions import router as sessions_router
from memories.api.settings import router as settings_router
from memories.api.statistics import router as statistics_router
from memories.api.summaries import router as summaries_router
from memories.api.transfer import router as transfer_router
from memories.api.webhooks import router as webhooks_router

router = Router()
# First match wins, so the fixed paths (/memories/search) come before /memories/{id}.
for _router, _tag in (
    (absence_router, "recall"),
    (recall_router, "recall"),
    (bulk_router, "memories"),
    (memories_router, "memories"),
    (lifecycle_router, "lifecycle"),
    (erasures_router, "erasure"),
    (retention_router, "erasure"),
    (relations_router, "relations"),
    (duplicates_router, "review"),
    (accesses_router, "recall"),
    (sessions_router, "sessions"),
    (daily_router, "tiers"),
    (coredocument_router, "tiers"),
    (dreams_router, "tiers"),
    (cleanup_router, "clean-up"),
    (plans_router, "clean-up"),
    (changesets_router, "clean-up"),
    (summaries_router, "summaries"),
    (events_router, "events"),
    (webhooks_router, "events"),
    (jobs_router, "operations"),
    (modelcalls_router, "operations"),
    (history_router, "operations"),
    (statistics_router, "operations"),
    (settings_router, "settings"),
    (transfer_router, "export and import"),
):
    router.add_router("", _router, tags=[_tag])
