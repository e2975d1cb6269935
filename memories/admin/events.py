"""What superusers may look at of the stream of events."""

from __future__ import annotations

from django.contrib import admin

from memories.models import Delivery, Event, Webhook
from memoryhub.lib.showcase import ShowcaseAdmin


@admin.register(Event)
class EventAdmin(ShowcaseAdmin):
    """What happened without being anybody's change; changes are in the audit."""

    list_display = ("id", "event", "target_kind", "target_id", "vault", "at")
    list_filter = ("event", "vault")
    list_select_related = ("vault",)


@admin.register(Webhook)
class WebhookAdmin(ShowcaseAdmin):
    """Endpoints that are told of events; addresses and secrets stay sealed."""

    list_display = ("name", "state", "is_private", "private_allowed", "failures", "failing_since", "vault")
    list_filter = ("state", "is_private", "vault")
    list_select_related = ("vault",)


@admin.register(Delivery)
class DeliveryAdmin(ShowcaseAdmin):
    """Every telling of an event to an endpoint."""

    list_display = ("id", "event", "state", "attempts", "status", "error", "webhook", "created_at")
    list_filter = ("state", "event", "vault")
    list_select_related = ("webhook",)
