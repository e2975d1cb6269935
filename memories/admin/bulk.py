"""What superusers may look at in bulk changes."""

from __future__ import annotations

from django.contrib import admin

from memories.models import BulkBatch
from memoryhub.lib.showcase import ShowcaseAdmin

BulkBatch._meta.verbose_name_plural = "bulk batches"


@admin.register(BulkBatch)
class BulkBatchAdmin(ShowcaseAdmin):
    """Memories that wait for a bulk change."""

    list_display = ("id", "changeset_id", "vault")
    ids = ("pk", "changeset_id")
    search_help_text = "The whole id of a list or changeset"
    list_select_related = ("vault",)
