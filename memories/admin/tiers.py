"""What superusers may look at in daily notes, core documents and dreams: days, versions, counts; texts are sealed."""

from __future__ import annotations

from django.contrib import admin

from memories.models import CoreDocument, CoreVersion, DailyNote, Dream, NoteLine
from memoryhub.lib.showcase import ShowcaseAdmin


@admin.register(DailyNote)
class DailyNoteAdmin(ShowcaseAdmin):
    """Which days have a note."""

    list_display = ("date", "namespace", "line_count", "left_out", "updated_at", "vault")
    list_filter = ("vault",)
    list_select_related = ("vault",)


@admin.register(NoteLine)
class NoteLineAdmin(ShowcaseAdmin):
    """Where each line came from."""

    list_display = ("note_id", "kind", "at", "session_id", "vault")
    list_filter = ("kind", "vault")
    list_select_related = ("vault",)
    ids = ("pk", "note_id", "session_id")
    search_help_text = "The whole id of a line, note or session"


@admin.register(CoreDocument)
class CoreDocumentAdmin(ShowcaseAdmin):
    """How often each was rewritten."""

    list_display = ("namespace", "version", "updated_at", "restored_at", "vault")
    list_filter = ("vault",)
    list_select_related = ("vault",)


@admin.register(CoreVersion)
class CoreVersionAdmin(ShowcaseAdmin):
    """Who made which version."""

    list_display = ("document_id", "number", "restored_from", "actor_kind", "actor_id", "created_at", "vault")
    list_filter = ("vault",)
    list_select_related = ("vault",)
    ids = ("pk", "document_id")
    search_help_text = "The whole id of a version or document"


@admin.register(Dream)
class DreamAdmin(ShowcaseAdmin):
    """What became of each dream."""

    list_display = ("created_at", "namespace", "state", "reason", "lookback_days", "is_scheduled", "by_model", "vault")
    list_filter = ("state", "is_scheduled", "by_model", "vault")
    list_select_related = ("vault",)
    ids = ("pk", "job_id")
    search_help_text = "The whole id of a dream or job"
