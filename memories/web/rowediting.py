"""One line of the list by itself: looked into, edited in place, drawn anew; without JavaScript each leads to a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import QueryDict
from django.shortcuts import render
from django.urls import reverse

from banks.access import KeyScope
from memories.search.names import Names
from memories.search.reading import get_memory
from memories.web.addresses import address_of
from memories.web.asking import NAMES
from memories.web.bulk import may_change
from memories.web.columns import columns_of
from memories.web.forms import RowForm
from memories.web.memory import edit, list_of
from memories.web.rows import LIST, Shown, rows_of
from memoryhub.lib.pages import SeeOther, say

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.models import Memory
    from memories.web.requests import HubRequest


def peek(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """All of a text and its labels, for a line that was opened; without htmx the page of the memory."""
    found = get_memory(request.access, memory_id)
    if not request.htmx:
        return SeeOther(f"{reverse('memory', args=[memory_id])}{list_of(request)}")
    return _drawn(request, found, "memories/peek.html", {})


def row(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """The line as it is now."""
    found = get_memory(request.access, memory_id)
    if not request.htmx:
        return SeeOther(f"{reverse('memories')}?{request.GET.get(LIST, '')}".rstrip("?"))
    return _drawn(request, found, "memories/one_row.html", {})


def edit_row(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Text, bank and tags in place of the line; a stale form shows all three versions. Without htmx the edit page."""
    request.access.require(KeyScope.MEMORIES_WRITE)
    if not request.htmx:
        return SeeOther(f"{reverse('edit_memory', args=[memory_id])}{list_of(request)}")
    edited = edit(request.access, memory_id, RowForm, request.POST or None)
    if edited.saved:
        before, after = edited.found.version, edited.saved.version
        undo = reverse("restore_version", args=[memory_id, before])
        if after == before:
            say(request, "Nothing was different, so nothing was saved.")
        else:
            say(request, f"Saved as version {after}.", undo=undo)
        return SeeOther(f"{reverse('row', args=[memory_id])}{list_of(request)}")
    context: dict[str, object] = {"form": edited.form, "conflict": edited.conflict}
    return _drawn(request, edited.found, "memories/row_form.html", context, edited.status)


def _drawn(
    request: HubRequest, memory: Memory, template: str, context: dict[str, object], status: int = 200
) -> HttpResponse:
    """A fragment about one line, with the columns of the list it stands in."""
    address = address_of(reverse("memories"), QueryDict(request.GET.get(LIST, "")), NAMES)
    columns = columns_of(request, address)
    (line,) = rows_of(request.access, [memory], Names(request.access).agents, Shown(columns, address))
    ticks = may_change(request.access)
    shown = {"row": line, "width": len(columns) + 2 + ticks, "ticks": ticks, "list": list_of(request)}
    shown["here"] = str(address)
    response = render(request, template, {**shown, **context}, status=status)
    response.headers["Cache-Control"] = "no-store"
    return response
