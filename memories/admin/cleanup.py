"""Clean-up plans in the admin: read, never edited here."""

from __future__ import annotations

from django.contrib import admin

from memories.models import CleanupCluster, CleanupExemption, CleanupPlan, CleanupPlanItem
from memoryhub.lib.showcase import ShowcaseAdmin


@admin.register(CleanupPlan)
class CleanupPlanAdmin(ShowcaseAdmin):
    """What clean-ups would archive, and what became of it."""

    list_display = ("id", "state", "candidates", "count", "rules", "actor_kind", "created_at", "applied_at", "vault")
    list_filter = ("state", "vault")
    list_select_related = ("vault",)


@admin.register(CleanupCluster)
class CleanupClusterAdmin(ShowcaseAdmin):
    """Memories that say the same, and which is kept."""

    list_display = ("id", "plan_id", "kept_id", "proposed_id", "why", "similarity")
    ids = ("pk", "plan_id", "kept_id")
    search_help_text = "The whole id of a cluster, a plan or the memory that is kept"


@admin.register(CleanupPlanItem)
class CleanupPlanItemAdmin(ShowcaseAdmin):
    """The candidates of a plan."""

    list_display = ("plan_id", "memory_id", "version", "reasons", "is_ticked", "stays", "outcome")
    ids = ("plan_id", "memory_id")
    search_help_text = "The whole id of a plan or memory"


@admin.register(CleanupExemption)
class CleanupExemptionAdmin(ShowcaseAdmin):
    """What rules never name again."""

    list_display = ("memory_id", "rule", "actor_kind", "actor_id", "created_at")
    ids = ("pk", "memory_id")
    search_help_text = "The whole id of a memory"
