"""What superusers may look at of the stream of events."""

from __future__ import annotations

from django.contrib import admin

from memories.models import Event
from memoryhub.lib.showcase import ShowcaseAdmin


@admin.register(Event)
class EventAdmin(ShowcaseAdmin):
    """What happened without being anybody's change; changes are in the audit."""

    list_display = ("id", "event", "target_kind", "target_id", "vault", "at")
    list_filter = ("event", "vault")
    list_select_related = ("vault",)
