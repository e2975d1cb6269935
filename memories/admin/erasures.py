"""What superusers may look at of erasures: that they happened, in counts."""

from __future__ import annotations

from django.contrib import admin

from memories.models import ErasureReceipt
from memoryhub.lib.showcase import ShowcaseAdmin


@admin.register(ErasureReceipt)
class ErasureReceiptAdmin(ShowcaseAdmin):
    """What was erased, when and by whom, in counts."""

    list_display = ("id", "kind", "removed", "started_at", "finished_at", "vault")
    list_filter = ("kind", "vault")
    list_select_related = ("vault",)
    ids = ("pk", "target_id")
    search_help_text = "The whole id of a receipt, a memory or a conversation"
