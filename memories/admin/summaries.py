"""What superusers may look at in the summaries."""

from __future__ import annotations

from django.contrib import admin

from memories.models import ClusterSummary
from memoryhub.lib.showcase import ShowcaseAdmin

ClusterSummary._meta.verbose_name_plural = "cluster summaries"


@admin.register(ClusterSummary)
class ClusterSummaryAdmin(ShowcaseAdmin):
    """Which summary was made of how many memories, and why."""

    list_display = ("memory_id", "members", "strategy", "similarity", "by_model", "created_at", "vault")
    list_filter = ("strategy", "by_model", "vault")
    list_select_related = ("vault",)
    ids = ("pk", "memory_id", "changeset_id")
    search_help_text = "The whole id of a summary or changeset"
