"""Erasing one memory in the browser: what goes is said first, then ticked, then proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.urls import reverse

from memories.search.reading import read_memories
from memories.services.erasing import erase_memory, preview_erasure
from memories.web.rows import opened
from memoryhub.lib.errors import StaleVersion
from memoryhub.lib.ids import short_id
from memoryhub.lib.pages import SeeOther, answer_page, say, warn

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from banks.access import Access
    from memories.web.requests import HubRequest

SHOWN = 10


class EraseForm(forms.Form):
    """The tick without which nothing is erased, and the version that was looked at."""

    sure = forms.BooleanField(label="Erase it for good. I know that nothing brings it back.")
    version = forms.IntegerField(min_value=1, widget=forms.HiddenInput)


def erase(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """What would go and what would come back; with the tick it is done, and the receipt is next."""
    doomed = preview_erasure(request.access, memory_id)
    form = EraseForm(request.POST or None, initial={"version": doomed.memory.version})
    if form.is_valid():
        try:
            receipt = erase_memory(request.access, memory_id, form.cleaned_data["version"])
        except StaleVersion:
            warn(request, "It was changed meanwhile, so nothing was erased. Look at it again.")
            return SeeOther(reverse("erase_memory", args=[memory_id]))
        say(request, "Erased. This is the receipt.")
        return SeeOther(reverse("erasure", args=[receipt.pk]))
    context = {
        "memory": doomed.memory,
        "short_id": short_id(doomed.memory.pk),
        "text": opened(doomed.memory),
        "doomed": doomed,
        "summaries": _lines(request.access, doomed.summaries),
        "returning": _lines(request.access, doomed.returning),
        "form": form,
    }
    return answer_page(request, "memories/erase.html", context, status=422 if form.errors else 200)


def _lines(access: Access, ids: list[UUID]) -> list[tuple[str, str | None]]:
    memories, _ = read_memories(access, ids[:SHOWN])
    return [(reverse("memory", args=[one.pk]), opened(one)) for one in memories]
