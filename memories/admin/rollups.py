"""What superusers may look at in the counts: numbers, words and the ids of banks."""

from __future__ import annotations

from django.contrib import admin

from memories.models import GuardSpell, Rollup, Tally
from memoryhub.lib.showcase import ShowcaseAdmin


@admin.register(Rollup)
class RollupAdmin(ShowcaseAdmin):
    """Counts by the hour, by the day and of all time."""

    list_display = ("vault", "span", "at", "metric", "label", "n")
    list_filter = ("span", "metric")
    list_select_related = ("vault",)


@admin.register(Tally)
class TallyAdmin(ShowcaseAdmin):
    """What the next sweep adds up."""

    list_display = ("vault", "at", "metric", "label", "n")
    list_filter = ("metric",)
    list_select_related = ("vault",)


@admin.register(GuardSpell)
class GuardSpellAdmin(ShowcaseAdmin):
    """Each time a guard was open."""

    list_display = ("vault", "service", "opened_at", "probes_at", "ended_at", "error")
    list_filter = ("service",)
    list_select_related = ("vault",)
