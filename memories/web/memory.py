"""One memory: its page and its forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.urls import reverse

from banks.access import KeyScope
from banks.services.banks import list_banks
from memories.rules.drafts import MemoryChanges, MemoryDraft
from memories.rules.vocabulary import Outcome
from memories.search.reading import get_memory
from memories.services.editing import update_memory
from memories.services.writing import write_memory
from memories.web.editing import as_typed, based_on, conflict_with
from memories.web.forms import EditForm, MemoryForm, initial_of
from memories.web.memorypage import Editing, memory_page
from memories.web.rows import LIST, opened
from memories.web.walking import asked_of
from memoryhub.lib.errors import StaleVersion
from memoryhub.lib.pages import SeeOther, answer_page, say, submitted

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse, QueryDict

    from banks.access import Access
    from memories.models import Memory
    from memories.web.editing import EditConflict
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
    page = memory_page(request.access, get_memory(request.access, memory_id), asked_of(request))
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
    """The form in place of the text. A stale one shows what both made of it and loses nothing."""
    request.access.require(KeyScope.MEMORIES_WRITE)
    page = f"{reverse('memory', args=[memory_id])}{list_of(request)}"
    edited = edit(request.access, memory_id, EditForm, request.POST or None)
    if edited.saved:
        _say_saved(request, memory_id, edited.found.version, edited.saved.version)
        return SeeOther(page)
    shown = memory_page(request.access, edited.found, request.GET, Editing(edited.form, edited.conflict))
    context = {"page": shown, "list": list_of(request)}
    return answer_page(request, "memories/memory.html", context, part="memory", status=edited.status)


def list_of(request: HubRequest) -> str:
    """The list somebody came from, to go along in addresses."""
    return f"?{urlencode({LIST: request.GET[LIST]})}" if LIST in request.GET else ""


@dataclass(frozen=True, slots=True)
class Edited:
    """What became of a form: ``saved``, or to be shown again with its mistakes, or with a conflict."""

    found: Memory
    form: EditForm
    saved: Memory | None = None
    conflict: EditConflict | None = None

    @property
    def status(self) -> int:
        """What the page that shows the form again answers with."""
        if self.conflict:
            return 412
        return 422 if self.form.errors else 200


def edit(access: Access, memory_id: UUID, kind: type[EditForm], sent: QueryDict | None) -> Edited:
    """Open a memory's form, or save what was sent with it. Raises NotFound."""
    found = get_memory(access, memory_id)
    banks = list_banks(access, include_hidden=True)
    form = kind(sent, banks=banks, initial=initial_of(found, opened(found) or ""))
    try:
        return Edited(found, form, submitted(form, lambda: _save(access, memory_id, form)))
    except StaleVersion:
        found = get_memory(access, memory_id)
        base = based_on(access, found, form, banks)
        again = as_typed(form, found, banks, base)
        return Edited(found, again, conflict=conflict_with(found, form, banks, base))


def _save(access: Access, memory_id: UUID, form: EditForm) -> Memory:
    body = form.changes()
    if not body:
        return get_memory(access, memory_id)
    return update_memory(access, memory_id, MemoryChanges.parse(body), form.cleaned_data["version"])


def _say_saved(request: HubRequest, memory_id: UUID, before: int, after: int) -> None:
    if after == before:
        say(request, "Nothing was different, so nothing was saved.")
    else:
        say(request, f"Saved as version {after}.", undo=reverse("restore_version", args=[memory_id, before]))
