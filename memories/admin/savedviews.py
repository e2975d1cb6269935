"""What superusers may look at in saved views: whose they are, not what they look for."""

from __future__ import annotations

from django.contrib import admin

from memories.models import SavedView
from memoryhub.lib.showcase import ShowcaseAdmin


@admin.register(SavedView)
class SavedViewAdmin(ShowcaseAdmin):
    """Lists under a name."""

    list_display = ("id", "owner", "is_shared", "is_pinned", "created_at", "vault")
    ids = ("pk",)
    search_help_text = "The whole id of a view"
    list_select_related = ("vault",)
