"""Imports and what waits of them."""

from __future__ import annotations

from django.contrib import admin

from memories.models import ImportChunk, VaultImport
from memoryhub.lib.showcase import ShowcaseAdmin


@admin.register(VaultImport)
class VaultImportAdmin(ShowcaseAdmin):
    """Files on their way in."""

    list_display = ("id", "state", "lines", "bytes", "through", "created_at", "finished_at", "vault")
    list_filter = ("state", "vault")
    list_select_related = ("vault",)


@admin.register(ImportChunk)
class ImportChunkAdmin(ShowcaseAdmin):
    """Their lines while they wait, sealed."""

    list_display = ("id", "owner_id", "number", "first_line")
    ids = ("pk", "owner_id")
    search_help_text = "The whole id of an import or of a chunk"
