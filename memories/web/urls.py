"""Addresses of this room."""

from __future__ import annotations

from django.urls import path

from memories.web import activity, browse, cleanup, jobs, lifecycle, memory, migrations, overview, system

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("memories/", browse.memories, name="memories"),
    path("memories/new/", memory.new_memory, name="new_memory"),
    path("memories/<uuid:memory_id>/", memory.memory, name="memory"),
    path("memories/<uuid:memory_id>/edit/", memory.edit_memory, name="edit_memory"),
    path("memories/<uuid:memory_id>/archive/", lifecycle.archive, name="archive_memory"),
    path("memories/<uuid:memory_id>/unarchive/", lifecycle.unarchive, name="unarchive_memory"),
    path("memories/<uuid:memory_id>/approve/", lifecycle.approve, name="approve_memory"),
    path("memories/<uuid:memory_id>/discard/", lifecycle.discard, name="discard_memory"),
    path("memories/<uuid:memory_id>/protect/", lifecycle.protect, name="protect_memory"),
    path("memories/<uuid:memory_id>/unprotect/", lifecycle.unprotect, name="unprotect_memory"),
    path("memories/<uuid:memory_id>/versions/<int:version>/restore/", lifecycle.restore, name="restore_version"),
    path("cleanup/", cleanup.cleanup, name="cleanup"),
    path("activity/", activity.activity, name="activity"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/<uuid:job_id>/retry/", jobs.retry, name="retry_job"),
    path("jobs/<uuid:job_id>/cancel/", jobs.cancel, name="cancel_job"),
    path("migrations/", migrations.migrations, name="migrations"),
    path("system/", system.system, name="system"),
]
