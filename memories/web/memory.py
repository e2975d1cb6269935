"""One memory: its page and its forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import reverse

from banks.access import KeyScope
from banks.services.banks import list_banks
from memories.rules.drafts import MemoryChanges, MemoryDraft
from memories.rules.vocabulary import Outcome
from memories.search.reading import get_memory
from memories.services.editing import update_memory
from memories.services.writing import write_memory
from memories.web.editing import as_typed, conflict_with
from memories.web.forms import EditForm, MemoryForm, initial_of
from memories.web.memorypage import Editing, memory_page
from memories.web.rows import opened
from memoryhub.lib.errors import StaleVersion
from memoryhub.lib.pages import SeeOther, answer_page, say, submitted

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.models import Memory
    from memories.web.requests import HubRequest

SAID = {
    Outcome.CREATED: "Remembered.",
    Outcome.SUPERSEDED: "Remembered; it replaces an older memory.",
    Outcome.UPDATED: "Updated.",
    Outcome.DUPLICATE: "That is remembered already: nothing was written. This is the memory.",
    Outcome.IDEMPOTENT: "That is remembered already: nothing was written.",
}


def memory(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """The page of one memory."""
    page = memory_page(request.access, get_memory(request.access, memory_id), request.GET)
    return answer_page(request, "memories/memory.html", {"page": page}, part="memory")


def new_memory(request: HubRequest) -> HttpResponse:
    """The form for a new memory; it goes through the same door as an agent's write."""
    request.access.require(KeyScope.MEMORIES_WRITE)
    banks = list_banks(request.access)
    form = MemoryForm(request.POST or None, banks=banks, initial={"bank": request.GET.get("bank") or banks[0].slug})
    if result := submitted(form, lambda: write_memory(request.access, MemoryDraft.parse(form.body()))):
        say(request, SAID[result.outcome])
        return SeeOther(reverse("memory", args=[result.memory.pk]))
    return answer_page(request, "memories/new.html", {"form": form}, status=422 if form.errors else 200)


def edit_memory(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """The form in place of the text. A stale one shows both versions and loses nothing."""
    request.access.require(KeyScope.MEMORIES_WRITE)
    found = get_memory(request.access, memory_id)
    banks = list_banks(request.access, include_hidden=True)
    form = EditForm(request.POST or None, banks=banks, initial=initial_of(found, opened(found) or ""))
    conflict, status = None, 422 if form.errors else 200
    try:
        if saved := submitted(form, lambda: _save(request, memory_id, form)):
            _say_saved(request, memory_id, found.version, saved.version)
            return SeeOther(reverse("memory", args=[memory_id]))
    except StaleVersion:
        found = get_memory(request.access, memory_id)
        conflict, status = conflict_with(found, form, banks), 412
        form = as_typed(form, found, banks)
    page = memory_page(request.access, found, request.GET, Editing(form, conflict))
    return answer_page(request, "memories/memory.html", {"page": page}, part="memory", status=status)


def _save(request: HubRequest, memory_id: UUID, form: EditForm) -> Memory:
    body = form.changes()
    if not body:
        return get_memory(request.access, memory_id)
    return update_memory(request.access, memory_id, MemoryChanges.parse(body), form.cleaned_data["version"])


def _say_saved(request: HubRequest, memory_id: UUID, before: int, after: int) -> None:
    if after == before:
        say(request, "Nothing was different, so nothing was saved.")
    else:
        say(request, f"Saved as version {after}.", undo=reverse("restore_version", args=[memory_id, before]))
