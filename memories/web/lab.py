"""The recall lab: ask as an agent does, and see why each answer came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse
from django_htmx.http import push_url, replace_url

from banks.services.banks import list_banks
from memories.rules.filters import SearchMode
from memories.rules.vocabulary import AccessPurpose, MemoryType
from memories.search.recall import search_memories
from memories.services.accesses import record_accesses
from memories.web.addresses import Address, address_of
from memories.web.forms import spoken
from memories.web.lababsence import AbsenceShown, absence_of
from memories.web.labcode import as_curl, as_python
from memories.web.labquestion import NAMES, OTHER, WHY, Asking, Knob, Option, asked_of_lab, knobs_of
from memories.web.labresult import PartLine, Result, legend_of, result_of
from memories.web.querychips import ShownMistake, shown_mistakes
from memoryhub.lib.errors import Invalid
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpResponse

    from banks.models import Bank
    from memories.rules.filters import SearchQuery
    from memories.search.recall import SearchAnswer
    from memories.web.requests import HubRequest

#: How a request of the page itself came about; without it somebody asked for an answer: by Enter, a button, an address.
PASS, TYPING, IDLE = "pass", "typing", "idle"


@dataclass(frozen=True, slots=True)
class LabPage:
    """Everything memories/recall.html draws."""

    asking: Asking
    banks: Sequence[Bank]
    types: list[Option]
    knobs: list[Knob]
    others: list[Knob]
    results: list[Result]
    mistakes: list[ShownMistake]
    absence: AbsenceShown | None
    is_typing: bool
    curl: str
    python: str

    @property
    def chosen_banks(self) -> list[str]:
        """Slugs of the banks to look in."""
        return self.asking.address.all("bank")

    @property
    def chosen(self) -> int:
        """How many parameters are not as usual."""
        return sum(name not in {"q", WHY} and not name.startswith(OTHER) for name, _ in self.asking.address.values)

    @property
    def archived(self) -> bool:
        """Whether archived memories are looked at too."""
        return bool(self.asking.address.first("archived"))

    @property
    def why(self) -> str:
        """The memory that is missed, as it was put."""
        return self.asking.address.first(WHY)

    @property
    def kept_without_why(self) -> tuple[tuple[str, str], ...]:
        """What asking for another one must carry along."""
        return self.asking.address.without(WHY).values

    @property
    def as_of(self) -> str:
        """The moment to look back to, as the field holds it."""
        return self.asking.address.first("as_of")

    @property
    def idle_url(self) -> str:
        """The same with meaning too, for when the typing pauses."""
        return str(self.asking.address.having(**{PASS: IDLE}))

    @property
    def legend(self) -> list[PartLine]:
        """What the colours of the bars mean."""
        return legend_of(self.results)

    @property
    def explanations(self) -> list[str]:
        """The numbers above the hits in words, of each search."""
        return [f"{one.title}: {one.explanation}" if one.title else one.explanation for one in self.results]

    @property
    def list_url(self) -> str:
        """The list of what meets the conditions."""
        return str(Address(reverse("memories")).having(q=self.asking.text))

    @property
    def reset_url(self) -> str:
        """The question alone."""
        return str(Address(reverse("recall")).having(q=self.asking.text))

    @property
    def announcement(self) -> str:
        """What a screen reader is told after a change."""
        told = [result.count_text for result in self.results] or [self.asking.refused or "No question yet"]
        return ". ".join([*told, *(mistake.message for mistake in self.mistakes), *self.asking.left_out])


def recall(request: HubRequest) -> HttpResponse:
    """The lab. By words alone while somebody types, by meaning too when they pause or ask."""
    cause = request.GET.get(PASS, "")
    mode = SearchMode.KEYWORD if cause == TYPING else SearchMode.HYBRID
    banks = list_banks(request.access)
    asking = asked_of_lab(address_of(reverse("recall"), request.GET, NAMES), banks, mode)
    refused = asking.refused
    searches = [query for query in (asking.left, asking.right) if query]
    try:
        answers = [search_memories(request.access, query) for query in searches]
    except Invalid as error:
        answers, refused = [], error.message
    if answers and cause not in {TYPING, IDLE}:
        _record(request, searches[0], answers[0])
    page = _page(request, asking, banks, list(zip(searches, answers, strict=False)))
    response = answer_page(request, "memories/recall.html", {"page": page, "refused": refused}, part="found")
    if request.htmx:
        (replace_url if cause else push_url)(response, str(asking.address))
    return response


def _record(request: HubRequest, query: SearchQuery, answer: SearchAnswer) -> None:
    ids, scores = [hit.memory.pk for hit in answer.hits], [hit.score for hit in answer.hits]
    record_accesses(request.access, ids, AccessPurpose.SEARCH, query.query, scores)


def _page(
    request: HubRequest, asking: Asking, banks: Sequence[Bank], found: list[tuple[SearchQuery, SearchAnswer]]
) -> LabPage:
    titles = ("First", "Second") if len(found) > 1 else ("",)
    first = found[0][1] if found else None
    hub_url = request.build_absolute_uri("/").rstrip("/")
    why = asking.address.first(WHY)
    chosen = set(asking.address.all("type"))
    return LabPage(
        asking=asking,
        banks=banks,
        types=[Option(kind.value, spoken(kind.value), kind.value in chosen) for kind in MemoryType],
        knobs=knobs_of(request.access, asking.address),
        others=knobs_of(request.access, asking.address, OTHER),
        results=[
            result_of(title, query, answer, first if place else None)
            for place, (title, (query, answer)) in enumerate(zip(titles, found, strict=True))
        ]
        if found
        else [],
        mistakes=shown_mistakes(asking.text, first.mistakes) if first else [],
        absence=absence_of(request.access, found[0][0], why) if why and found else None,
        is_typing=request.GET.get(PASS) == TYPING,
        curl=as_curl(hub_url, asking.left) if asking.left else "",
        python=as_python(hub_url, asking.left) if asking.left else "",
    )
