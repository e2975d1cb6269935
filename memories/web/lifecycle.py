"""The buttons of a memory: each calls one verb, says what happened, offers to take it back, and returns."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.services.banks import bank_names
from memories.rules.drafts import MemoryChanges, MemoryDraft
from memories.rules.limits import REASON_MAX
from memories.rules.vocabulary import Status
from memories.services.editing import restore_version, update_memory
from memories.services.lifecycle import archive_memory, change_status
from memories.services.writing import write_successor
from memoryhub.lib.errors import Invalid
from memoryhub.lib.pages import SeeOther, safe_next, say

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.web.requests import HubRequest

VERSION_DIGITS = 18


def _done(request: HubRequest, memory_id: UUID, text: str, undo: str = "") -> HttpResponse:
    after = safe_next(request, reverse("memory", args=[memory_id]))
    say(request, text, undo=f"{reverse(undo, args=[memory_id])}?{urlencode({'next': after})}" if undo else "")
    return SeeOther(after)


@require_POST
def archive(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Hide it from recall."""
    archive_memory(request.access, memory_id, reason=_reason(request))
    return _done(request, memory_id, "Archived.", undo="unarchive_memory")


@require_POST
def unarchive(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Bring it back."""
    archive_memory(request.access, memory_id, archived=False)
    return _done(request, memory_id, "Restored.", undo="archive_memory")


@require_POST
def approve(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Let agents recall a draft."""
    change_status(request.access, memory_id, Status.ACCEPTED)
    return _done(request, memory_id, "Approved: agents recall it from now on.")


@require_POST
def discard(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Reject a draft; it stays in the record."""
    change_status(request.access, memory_id, Status.DISCARD)
    return _done(request, memory_id, "Discarded.")


@require_POST
def protect(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Keep clean-up and duplicates away from it."""
    update_memory(request.access, memory_id, MemoryChanges(is_protected=True))
    return _done(request, memory_id, "Protected.", undo="unprotect_memory")


@require_POST
def unprotect(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Let clean-up consider it again."""
    update_memory(request.access, memory_id, MemoryChanges(is_protected=False))
    return _done(request, memory_id, "No longer protected.", undo="protect_memory")


@require_POST
def replace(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Write the memory that takes its place; labels stay as they are."""
    said = request.POST.get("content", "").replace("\r\n", "\n")
    result = write_successor(request.access, str(memory_id), MemoryDraft.parse({"content": said}))
    if result.superseded_id is None:
        return _done(request, memory_id, "Nothing was replaced: that is remembered already.")
    undo = f"{reverse('unarchive_memory', args=[memory_id])}?{urlencode({'next': reverse('memory', args=[memory_id])})}"
    say(request, "Replaced: agents recall this one from now on.", undo=undo)
    return SeeOther(reverse("memory", args=[result.memory.pk]))


@require_POST
def move(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Into another bank."""
    changes = MemoryChanges.parse({"bank": request.POST.get("bank", ""), "reason": _reason(request)})
    memory = update_memory(request.access, memory_id, changes, _expected_version(request))
    return _done(request, memory_id, f"Now in the bank “{bank_names(request.access)[str(memory.bank_id)]}”.")


def _reason(request: HubRequest) -> str:
    return request.POST.get("reason", "").strip()[:REASON_MAX]


def _expected_version(request: HubRequest) -> int | None:
    """The version the page showed, if the form names it. Raises Invalid: nonsense must not pass as "any version"."""
    text = request.POST.get("version", "")
    if text and not (text.isdecimal() and len(text) <= VERSION_DIGITS):
        raise Invalid("That form names no version of this memory; open the page again.")
    return int(text) if text else None


@require_POST
def restore(request: HubRequest, memory_id: UUID, version: int) -> HttpResponse:
    """Make an earlier version the newest; the one before stays in the history."""
    memory = restore_version(request.access, memory_id, version, _expected_version(request))
    return _done(request, memory_id, f"Version {version} is back, as version {memory.version}.")
