"""What superusers may look at in memories and the work around them.

Nothing is added, edited or deleted here past the services. Text is opened only for superusers who are members of the
vault it belongs to, with their own access; for everybody else it says "sealed".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.utils.text import Truncator

from banks.access import Access, access_from_user, vaults_of
from memories.models import (
    CallGuard,
    Changeset,
    ChangesetItem,
    DuplicatePair,
    Embedding,
    EmbeddingSpace,
    IdempotencyRecord,
    Job,
    Link,
    Lookup,
    Memory,
    MemoryAccess,
    MemoryIndex,
    Message,
    MigrationRecord,
    ModelCall,
    Posting,
    PostingChunk,
    Revision,
    Session,
    VaultSpace,
)
from memories.services.jobs import cancel_job, retry_job
from memories.services.lifecycle import archive_memory
from memoryhub.lib.answers import request_id_of
from memoryhub.lib.crypto import CryptoError
from memoryhub.lib.errors import HubError
from memoryhub.lib.sealing import VaultLocked
from memoryhub.lib.showcase import ShowcaseAdmin

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

TEXT_SHOWN = 160
# Set here and not in the model's Meta: the word is the admin's alone, and no schema history needs to know it.
MemoryIndex._meta.verbose_name_plural = "memory indexes"


def _unlock_own_vaults(request: HttpRequest) -> None:
    """Open, for this request, the vaults this superuser is a member of."""
    if request.user.is_authenticated and request.user.is_superuser:
        for vault in vaults_of(request.user):
            access_from_user(request.user, vault.pk, request_id_of(request))


def _each(
    owner: ShowcaseAdmin, request: HttpRequest, rows: QuerySet[Any], act: Callable[[Access, Any], object]
) -> None:
    """Do it to every chosen row with this person's own access, and count what was refused by its reason."""
    assert request.user.is_authenticated
    done, refused = 0, dict[str, int]()
    accesses: dict[Any, Access] = {}
    for row in rows:
        try:
            if row.vault_id not in accesses:
                accesses[row.vault_id] = access_from_user(request.user, row.vault_id, request_id_of(request))
            act(accesses[row.vault_id], row.pk)
        except HubError as error:
            refused[error.message] = refused.get(error.message, 0) + 1
        else:
            done += 1
    if done:
        owner.message_user(request, f"Done: {done}.")
    for reason, count in refused.items():
        owner.message_user(request, f"Not done: {count}. {reason}", messages.ERROR)


@admin.register(Memory)
class MemoryAdmin(ShowcaseAdmin):
    """Memories with their labels."""

    list_display = ("id", "text", "type", "status", "is_archived", "importance", "bank", "vault", "created_at")
    list_filter = (
        "status",
        ("archived_at", admin.EmptyFieldListFilter),
        "type",
        "category",
        "index_state",
        "trust",
        "importance",
        "is_protected",
        "vault",
    )
    list_select_related = ("bank", "vault")
    ordering = ("-created_at", "-id")
    # Counting every value of every filter is one scan; people ask for it when they want it.
    show_facets = admin.ShowFacets.ALLOW
    exact = ("external_write_id", "session_id", "agent_id")
    search_help_text = "A whole id, external id, session or agent"
    show_more = ("text",)
    actions = ("archive", "restore")

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The list, with the texts this person may read."""
        _unlock_own_vaults(request)
        return super().changelist_view(request, extra_context)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """One row, with its text if this person may read it."""
        _unlock_own_vaults(request)
        return super().changeform_view(request, *args, **kwargs)

    @admin.display(description="content")
    def text(self, memory: Memory) -> str:
        """The beginning of the text, or why it is not shown."""
        try:
            return Truncator(memory.content).chars(TEXT_SHOWN)
        except VaultLocked:
            return "sealed"
        except CryptoError:
            return "cannot be opened"

    @admin.display(description="archived", boolean=True)
    def is_archived(self, memory: Memory) -> bool:
        """Whether recall passes over it."""
        return memory.archived_at is not None

    @admin.action(description="Archive: agents no longer recall them", permissions=["view"])
    def archive(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        """Through the service."""
        _each(self, request, queryset, lambda access, pk: archive_memory(access, pk, reason="admin"))

    @admin.action(description="Restore: agents recall them again", permissions=["view"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        """Through the service."""
        _each(self, request, queryset, lambda access, pk: archive_memory(access, pk, archived=False, reason="admin"))


@admin.register(Revision)
class RevisionAdmin(ShowcaseAdmin):
    """Which labels changed when; what they were is sealed and shown on the memory's page."""

    list_display = ("memory_id", "version", "action", "changed", "actor_kind", "actor_id", "created_at", "vault")
    list_filter = ("action", "actor_kind", "vault")
    list_select_related = ("vault",)
    ids = ("pk", "memory_id")
    search_help_text = "The whole id of a memory"


@admin.register(Link)
class LinkAdmin(ShowcaseAdmin):
    """How memories relate."""

    list_display = ("relation", "source_id", "target_id", "vault", "created_at")
    list_filter = ("relation", "vault")
    list_select_related = ("vault",)
    ids = ("pk", "source_id", "target_id")
    search_help_text = "The whole id of either memory"


@admin.register(Lookup)
class LookupAdmin(ShowcaseAdmin):
    """Who looked something up; the question is sealed and shown on the memory's page."""

    list_display = ("id", "purpose", "actor_kind", "actor_id", "agent_id", "at", "vault")
    list_filter = ("purpose", "actor_kind", "vault")
    list_select_related = ("vault",)
    exact = ("actor_id", "agent_id")
    search_help_text = "The whole id of a lookup, or of the key, person or agent"


@admin.register(MemoryAccess)
class MemoryAccessAdmin(ShowcaseAdmin):
    """What was given out."""

    list_display = ("id", "memory_id", "lookup_id", "rank", "score")
    ids = ("memory_id", "lookup_id")
    search_help_text = "The whole id of a memory or lookup"


@admin.register(Changeset)
class ChangesetAdmin(ShowcaseAdmin):
    """What was changed as one."""

    list_display = ("id", "action", "state", "actor_kind", "actor_id", "created_at", "undone_at", "vault")
    list_filter = ("state", "action", "vault")
    list_select_related = ("vault",)


@admin.register(ChangesetItem)
class ChangesetItemAdmin(ShowcaseAdmin):
    """The memories of a changeset."""

    list_display = ("changeset_id", "memory_id", "version_before", "version_after")
    ids = ("pk", "changeset_id", "memory_id")
    search_help_text = "The whole id of a changeset or memory"


@admin.register(DuplicatePair)
class DuplicatePairAdmin(ShowcaseAdmin):
    """Which memories look alike, and what was decided."""

    list_display = ("id", "kind", "state", "similarity", "differences", "older_id", "newer_id", "decided_at", "vault")
    list_filter = ("state", "kind", "vault")
    list_select_related = ("vault",)
    ids = ("pk", "older_id", "newer_id")
    search_help_text = "The whole id of the pair or of either memory"


@admin.register(Job)
class JobAdmin(ShowcaseAdmin):
    """Work in the background."""

    list_display = ("id", "kind", "state", "attempts", "stage", "done", "total", "due_at", "error", "vault")
    list_filter = ("state", "kind", "vault")
    list_select_related = ("vault",)
    show_facets = admin.ShowFacets.ALLOW
    actions = ("retry", "cancel")

    @admin.action(description="Retry: new attempts for failed and cancelled jobs", permissions=["view"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        """Through the service."""
        _each(self, request, queryset, retry_job)

    @admin.action(description="Cancel waiting and running jobs", permissions=["view"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        """Through the service."""
        _each(self, request, queryset, cancel_job)


@admin.register(Session)
class SessionAdmin(ShowcaseAdmin):
    """Conversations and how far they were read; the running summary is sealed."""

    list_display = ("sid", "user_id", "agent_id", "last_number", "extracted_through", "last_message_at", "vault")
    list_filter = ("vault",)
    list_select_related = ("vault",)
    exact = ("sid", "user_id", "agent_id", "task_id")
    search_help_text = "A whole id, session, user, agent or task"


@admin.register(Message)
class MessageAdmin(ShowcaseAdmin):
    """Who spoke when, and how much; what was said is sealed."""

    list_display = ("session_id", "number", "role", "tokens", "is_saved", "created_at", "vault")
    list_filter = ("role", "vault")
    list_select_related = ("vault",)
    ids = ("pk", "session_id")
    search_help_text = "The whole id of a message or session"


@admin.register(MigrationRecord)
class MigrationRecordAdmin(ShowcaseAdmin):
    """What changed the store."""

    list_display = ("app", "name", "kind", "state", "rows_done", "rows_total", "started_at", "duration_ms")
    list_filter = ("kind", "state", "app")
    show_facets = admin.ShowFacets.ALWAYS
    exact = ("name",)
    search_help_text = "A whole name"


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(ShowcaseAdmin):
    """Answers kept for repeated requests; sealed."""

    list_display = ("id", "actor_id", "created_at", "vault")
    list_select_related = ("vault",)


@admin.register(ModelCall)
class ModelCallAdmin(ShowcaseAdmin):
    """Questions to language models: numbers and reasons, never words."""

    list_display = ("created_at", "purpose", "model", "result", "reason", "tokens_in", "tokens_out", "took_ms", "vault")
    list_filter = ("purpose", "result")
    list_select_related = ("vault",)


@admin.register(CallGuard)
class CallGuardAdmin(ShowcaseAdmin):
    """The error guards; they are reset on the page System."""

    list_display = ("service", "vault", "opened_at", "last_error", "changed_at")
    list_select_related = ("vault",)


@admin.register(MemoryIndex)
class MemoryIndexAdmin(ShowcaseAdmin):
    """How many keyed words search keeps of a memory; the hashes themselves are left out."""

    list_display = ("memory_id", "doc_len", "index_version")
    ids = ("memory_id",)
    search_help_text = "The whole id of a memory"

    def clear_columns(self) -> list[str]:
        """Without the arrays, which say nothing to a person."""
        return ["memory", "doc_len", "index_version"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without loading the arrays."""
        return super().get_queryset(request).defer("terms", "tfs")


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(ShowcaseAdmin):
    """Embedders in use."""

    list_display = ("provider", "model", "dimensions", "created_at")


@admin.register(VaultSpace)
class VaultSpaceAdmin(ShowcaseAdmin):
    """Which vault searches in which space."""

    list_display = ("vault", "space", "is_active", "created_at")
    list_select_related = ("vault", "space")


@admin.register(Embedding)
class EmbeddingAdmin(ShowcaseAdmin):
    """Which vectors there are; the numbers are left out."""

    list_display = ("id", "memory_id", "unit", "space")
    list_select_related = ("space",)
    ids = ("memory_id",)
    search_help_text = "The number of a row or the whole id of a memory"

    def clear_columns(self) -> list[str]:
        """Without the vector."""
        return ["id", "memory", "space", "unit"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without loading the vectors."""
        return super().get_queryset(request).defer("vector")


@admin.register(Posting)
class PostingAdmin(ShowcaseAdmin):
    """Packed keyword index: which keyed terms have postings in which chunk; the postings themselves are left out."""

    list_display = ("id", "term", "chunk", "vault")
    list_select_related = ("vault",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without loading the postings."""
        return super().get_queryset(request).defer("body")


@admin.register(PostingChunk)
class PostingChunkAdmin(ShowcaseAdmin):
    """How much of the keyword index is packed."""

    list_display = ("id", "chunk", "documents", "total_length", "vault")
    list_select_related = ("vault",)
