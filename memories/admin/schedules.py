"""What superusers may look at in the periodic work."""

from __future__ import annotations

from django.contrib import admin

from memories.models import Schedule
from memoryhub.lib.showcase import ShowcaseAdmin


@admin.register(Schedule)
class ScheduleAdmin(ShowcaseAdmin):
    """What the hub does by itself, when it last did and when it will again."""

    list_display = ("kind", "vault", "last_at", "due_at")
    list_filter = ("kind", "vault")
    list_select_related = ("vault",)
