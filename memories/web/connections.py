"""What one memory is connected to: as a drawing, and as the same thing in a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.text import Truncator
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from memories.rules.egograph import RADIUS, Drawing, Line, Spoke, TieKind, draw
from memories.rules.vocabulary import Relation, Status
from memories.search.reading import get_memory
from memories.search.surroundings import Tie, read_surroundings, step_further
from memories.services.linking import create_link, delete_link
from memories.web.rows import State, opened, state_of
from memoryhub.lib.errors import Invalid
from memoryhub.lib.ids import short_id
from memoryhub.lib.pages import SeeOther, answer_page, safe_next, say

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from django.http import HttpResponse

    from banks.access import Access
    from memories.models import Memory
    from memories.web.requests import HubRequest

TITLE_SHOWN = 120
#: How the middle stands to the other, and the other to the middle.
OUTWARD = {
    TieKind.SUPERSEDES: "Replaces",
    TieKind.REFINES: "Refines",
    TieKind.DERIVED_FROM: "Derived from",
    TieKind.SUPPORTS: "Supports",
    TieKind.CONTRADICTS: "Contradicts",
    TieKind.RELATED: "Related to",
    TieKind.SOURCE: "Summarises",
    TieKind.PAIR: "Waits in review beside",
    TieKind.ENTITY: "Also about",
}
INWARD = {
    TieKind.SUPERSEDES: "Replaced by",
    TieKind.REFINES: "Refined by",
    TieKind.DERIVED_FROM: "Source of",
    TieKind.SUPPORTS: "Supported by",
    TieKind.CONTRADICTS: "Contradicted by",
}
#: What a person may say of two memories; replacing has a form of its own.
RELATIONS = [(one.value, OUTWARD[TieKind(one)]) for one in Relation if one is not Relation.SUPERSEDES]


@dataclass(frozen=True, slots=True)
class HowTied:
    """One way two memories hang together; with an address to take it away, where somebody made it."""

    words: str
    remove_url: str = ""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A row of the table, and a circle of the drawing by the same number."""

    number: int
    x: float
    y: float
    url: str
    text: str | None
    state: State
    bank: str
    how: list[HowTied]
    is_far: bool

    @property
    def title(self) -> str:
        """What a pointer over the circle says."""
        ways = ", ".join(one.words for one in self.how)
        return f"{ways}: {Truncator(self.text or 'Cannot be opened').chars(TITLE_SHOWN)}"


@dataclass(frozen=True, slots=True)
class Key:
    """A kind of line and what it means."""

    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Connections:
    """The neighbourhood of one memory."""

    memory: Memory
    rows: list[Neighbour]
    drawing: Drawing
    lines: list[Line]
    keys: list[Key]
    steps: int
    may_link: bool
    relations: list[tuple[str, str]]
    radius: float = RADIUS

    @property
    def left_out(self) -> int:
        """Who found no room."""
        return self.drawing.left_out

    @property
    def short_id(self) -> str:
        """The name of the middle."""
        return short_id(self.memory.pk)


def connections_of(access: Access, memory: Memory, ties: Sequence[Tie], steps: int = 1) -> Connections:
    """The ties in words and in points."""
    spokes = [Spoke(str(tie.other.pk), tie.kind, str(tie.by_way_of) if tie.by_way_of else None) for tie in ties]
    drawing = draw(spokes)
    by_key: dict[str, list[Tie]] = {}
    for tie in ties:
        by_key.setdefault(str(tie.other.pk), []).append(tie)
    may_link = access.has(KeyScope.MEMORIES_WRITE) and memory.status != Status.DISCARD
    numbers = {point.key: point.number for point in drawing.points}
    rows = [
        Neighbour(
            number=point.number,
            x=point.x,
            y=point.y,
            url=reverse("memory", args=[point.key]),
            text=opened(mine[0].other),
            state=state_of(mine[0].other),
            bank=mine[0].other.bank.name,
            how=[_how(memory, tie, numbers, may_link=may_link) for tie in mine],
            is_far=all(tie.by_way_of for tie in mine),
        )
        for point in drawing.points
        if (mine := by_key[point.key])
    ]
    drawn = {line.kind for line in drawing.lines}
    keys = [Key(kind.value, OUTWARD[kind]) for kind in TieKind if kind in drawn]
    return Connections(memory, rows, drawing, drawing.lines, keys, steps, may_link, RELATIONS)


def _how(memory: Memory, tie: Tie, numbers: dict[str, int], *, may_link: bool) -> HowTied:
    words = OUTWARD[tie.kind] if tie.outward else INWARD.get(tie.kind, OUTWARD[tie.kind])
    if tie.by_way_of is not None:
        return HowTied(f"{words} number {numbers.get(str(tie.by_way_of), '?')}")
    if tie.kind == TieKind.ENTITY:
        return HowTied(f"{words} {tie.shared}")
    removable = may_link and tie.link_id is not None and tie.kind != TieKind.SUPERSEDES
    return HowTied(words, reverse("delete_link", args=[memory.pk, tie.link_id]) if removable else "")


def connections(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """The neighbourhood on a page of its own, one step or two."""
    memory = get_memory(request.access, memory_id)
    steps = 2 if request.GET.get("steps") == "2" else 1
    ties = read_surroundings(request.access, memory).ties
    if steps == 2:
        near = list({str(tie.other.pk): tie for tie in ties}.values())
        known = {str(memory.pk), *(str(tie.other.pk) for tie in near)}
        further = step_further(request.access, near, memory.pk)
        ties = [*ties, *(tie for tie in further if str(tie.other.pk) not in known)]
    context = {
        "page": connections_of(request.access, memory, ties, steps),
        "text": opened(memory),
        "one_step_url": reverse("connections", args=[memory_id]),
        "two_steps_url": f"{reverse('connections', args=[memory_id])}?steps=2",
    }
    return answer_page(request, "memories/connections.html", context)


@require_POST
def link(request: HubRequest, memory_id: UUID) -> HttpResponse:
    """Link it to another memory by its id or address."""
    target = request.POST.get("target", "").strip().rstrip("/").rpartition("/")[2]
    relation = request.POST.get("relation", Relation.RELATED.value)
    if relation not in set(Relation):
        raise Invalid("That form names no relation; open the page again.")
    create_link(request.access, memory_id, target, Relation(relation))
    say(request, f"Linked: {OUTWARD[TieKind(relation)].lower()} {target[:8]}.")
    return SeeOther(safe_next(request, _here(memory_id)))


@require_POST
def unlink(request: HubRequest, memory_id: UUID, link_id: UUID) -> HttpResponse:
    """Take a link away."""
    delete_link(request.access, memory_id, link_id)
    say(request, "The link is gone; both memories stay.")
    return SeeOther(safe_next(request, _here(memory_id)))


def _here(memory_id: UUID) -> str:
    return f"{reverse('memory', args=[memory_id])}#connections"
