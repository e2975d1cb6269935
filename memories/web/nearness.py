"""What says nearly the same as one memory, with what can be decided about it: a part of its page, and a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from memories.rules.vocabulary import Status
from memories.search.reading import get_memory
from memories.services.nearness import decide_near, near_memories
from memories.web.rows import State, opened, state_of
from memories.web.worddiff import Piece, word_diff
from memoryhub.lib.errors import Invalid
from memoryhub.lib.ids import short_id
from memoryhub.lib.pages import SeeOther, answer_page, safe_next, say

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.models import Memory
    from memories.services.nearness import NearMemory
    from memories.web.requests import HubRequest

#: Below it most words differ, and marking them all tells nothing.
DIFFED_FROM = 0.75
SAID = {
    "different": "Noted: these two are different things and will not be shown together again.",
    "this": "Replaced: agents recall this one.",
    "that": "Replaced: agents recall the other one; this one is archived.",
}


@dataclass(frozen=True, slots=True)
class NearLine:
    """One near memory; ``pieces`` is its text as a change of this one's."""

    url: str
    decide_url: str
    text: str | None
    pieces: list[Piece]
    percent: int
    state: State
    bank: str
    short_id: str


def near(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """The nearest five; asked for by the memory's page as soon as it stands."""
    memory = get_memory(request.access, memory_id)
    found = near_memories(request.access, memory)
    text, is_live = opened(memory), memory.archived_at is None and memory.status != Status.DISCARD
    context = {
        "memory": memory,
        "text": text,
        "short_id": short_id(memory.pk),
        "lines": [_line(memory, text, one) for one in found.items],
        "nearby": found,
        "may_decide": request.access.has(KeyScope.MEMORIES_WRITE) and is_live,
    }
    return answer_page(request, "memories/near.html", context, part="near")


def _line(memory: Memory, text: str | None, one: NearMemory) -> NearLine:
    other = opened(one.memory)
    return NearLine(
        url=reverse("memory", args=[one.memory.pk]),
        decide_url=reverse("decide_near", args=[memory.pk, one.memory.pk]),
        text=other,
        pieces=word_diff(text, other) if text and other and one.similarity >= DIFFED_FROM else [],
        percent=round(100 * one.similarity),
        state=state_of(one.memory),
        bank=one.memory.bank.name,
        short_id=short_id(one.memory.pk),
    )


@require_POST
def decide(request: HubRequest, memory_id: UUID, other_id: UUID) -> HttpResponse:
    """Different things, or one of them stands for both."""
    said = request.POST.get("decision", "")
    if said not in SAID:
        raise Invalid("That form names no decision; open the page again.")
    stays = {"this": memory_id, "that": other_id}.get(said)
    pair = decide_near(request.access, memory_id, other_id, stays)
    after = safe_next(request, reverse("memory", args=[memory_id]))
    say(request, SAID[said], undo=f"{reverse('reopen_pair', args=[pair.pk])}?next={after}")
    return SeeOther(after)
