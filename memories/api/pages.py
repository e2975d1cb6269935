"""One page of a list, with its cursors, its total and, on request, counts by facet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, NotRequired, TypedDict

from django.http import HttpResponse
from pydantic import Field, with_config

from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memories_out
from memories.rules import limits
from memories.rules.filters import MemoryFilter, Sort
from memories.rules.queryparts import QueryMistake
from memories.rules.querytext import caret
from memories.search.facets import Facet, FacetValue, count_facets, sampling_of_facet
from memories.search.listing import list_memories
from memoryhub.lib.answers import json_answer
from memoryhub.lib.errors import FieldError, Invalid
from memoryhub.lib.openapi.shapes import shown
from memoryhub.lib.strict import StrictModel


class Page(StrictModel):
    """Which part of the list, in which order; ``facets`` names labels to count by, separated by commas."""

    sort: Sort = Sort.NEWEST
    limit: Annotated[int, Field(ge=1, le=limits.PAGE_MAX)] = 50
    cursor: str | None = None
    facets: Annotated[str, Field(max_length=255)] = ""
    compact: bool = False

    def facet_names(self) -> list[Facet]:
        """The facets asked for. Raises Invalid naming those there are."""
        names = [name.strip() for name in self.facets.split(",") if name.strip()]
        if not set(names) <= set(Facet):
            known = ", ".join(Facet)
            raise Invalid(errors=[FieldError("/facets", "unknown_facet", f"must be among: {known}")])
        return [Facet(name) for name in names]


@with_config(shown({"value": "Work", "label": "Work", "count": 120}))
class FacetOut(TypedDict):
    """One value with its count; ``selected`` when the filter names it."""

    value: str | int | None
    label: str
    count: int
    selected: bool


@with_config(
    shown(
        {
            "message": "There is no field “banc”.",
            "start": 0,
            "end": 5,
            "hint": "Did you mean bank:work?",
            "caret": "banc:work oats\n^^^^^",
        }
    )
)
class MistakeOut(TypedDict):
    """What of ``q`` was left out: characters ``start`` up to ``end``; ``caret`` is two lines for a terminal."""

    message: str
    start: int
    end: int
    hint: str
    caret: str


@with_config(shown({"total": 1}))
class MemoryList(TypedDict):
    """One page; a cursor is null at the end of the list. The page is by what of ``q`` could be understood."""

    items: list[MemoryOut]
    next_cursor: str | None
    prev_cursor: str | None
    total: int
    facets: NotRequired[dict[str, list[FacetOut]]]
    #: Beside facets: whether some were judged by a sample: above 200,000 memories, tags and entities above 50,000.
    facets_approximate: NotRequired[bool]
    query_mistakes: NotRequired[list[MistakeOut]]


def list_answer(request: ApiRequest, filters: MemoryFilter, page: Page) -> HttpResponse:
    """The page as JSON, with ``Link: rel="next"`` when there is more."""
    names = page.facet_names()
    if names and filters.as_of is not None:
        raise Invalid(errors=[FieldError("/facets", "as_of", "counts what is true now; leave it out with as_of")])
    found = list_memories(request.access, filters, page.sort, page.limit, page.cursor)
    body: MemoryList = {
        "items": memories_out(request.access, found.items, compact=page.compact, at=filters.as_of),
        "next_cursor": found.next_cursor,
        "prev_cursor": found.prev_cursor,
        "total": found.total,
    }
    if names:
        counted = count_facets(request.access, filters, names)
        body["facets"] = {name: [_facet_out(value) for value in values] for name, values in counted.items()}
        body["facets_approximate"] = not all(sampling_of_facet(request.access, name).is_exact for name in names)
    if found.mistakes:
        body["query_mistakes"] = mistakes_out(filters.q, found.mistakes)
    links = [_link(request, cursor, rel) for cursor, rel in ((found.next_cursor, "next"), (found.prev_cursor, "prev"))]
    return json_answer(body, headers={"Link": ", ".join(filter(None, links))} if any(links) else None)


def _facet_out(value: FacetValue) -> FacetOut:
    return {"value": value.value, "label": value.label, "count": value.count, "selected": value.selected}


def mistakes_out(text: str, mistakes: Iterable[QueryMistake]) -> list[MistakeOut]:
    """Each mistake with its place in the text."""
    return [
        {
            "message": mistake.message,
            "start": mistake.start,
            "end": mistake.end,
            "hint": mistake.hint,
            "caret": caret(text, mistake),
        }
        for mistake in mistakes
    ]


def _link(request: ApiRequest, cursor: str | None, rel: str) -> str:
    if cursor is None:
        return ""
    query = request.GET.copy()
    query["cursor"] = cursor
    return f'<{request.path}?{query.urlencode()}>; rel="{rel}"'
