"""What the review queue shows: drafts with where they come from, pairs side by side with what differs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from django.urls import reverse

from memories.rules.filters import Presence, StatusFilter
from memories.rules.vocabulary import PairKind
from memories.search.facets import Facet, count_facets
from memories.search.listing import list_memories
from memories.services.duplicates import list_pairs
from memories.services.reviewing import DUPLICATES
from memories.web.actors import agent_names
from memories.web.choices import Group, values_of
from memories.web.rows import opened
from memories.web.worddiff import Piece, word_diff
from memoryhub.lib.pagination import CursorInvalid, CursorMismatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from banks.access import Access
    from memories.models import DuplicatePair, Memory
    from memories.web.asking import Asked

PAGE = 20
CHOICES_SHOWN = 12
FACETS = (
    (Facet.SOURCE, "Source"),
    (Facet.AGENT, "Agent"),
    (Facet.SESSION, "Session"),
    (Facet.TYPE, "Type"),
    (Facet.CONFIDENCE, "Confidence"),
)


class Tab(StrEnum):
    """What there is to review."""

    DRAFTS = "drafts"
    DUPLICATES = "duplicates"
    CONTRADICTIONS = "contradictions"


#: Tab → the name of its address, and its title.
TABS = {
    Tab.DRAFTS: ("review", "Drafts"),
    Tab.DUPLICATES: ("review_duplicates", "Duplicates"),
    Tab.CONTRADICTIONS: ("review_contradictions", "Contradictions"),
}
KINDS = {Tab.DUPLICATES: DUPLICATES, Tab.CONTRADICTIONS: (PairKind.CONTRADICTION,)}


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory with its text and its agent's name."""

    memory: Memory
    text: str | None
    agent: str

    @property
    def url(self) -> str:
        """Its own page."""
        return reverse("memory", args=[self.memory.pk])


@dataclass(frozen=True, slots=True)
class DraftPage:
    """Drafts, every filter as a link with its count, and the one button that rejects all that are let through."""

    drafts: list[Draft]
    total: int
    groups: list[Group]
    narrowed: list[str]
    reject_url: str
    clear_url: str
    next_url: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories side by side; ``pieces`` is the second text as a change of the first.

    Which came to the hub first and which has the older date are two things: an import brings old dates late. What a
    person reads as older or newer goes by the dates beside it.
    """

    pair: DuplicatePair
    older: Draft
    newer: Draft
    pieces: list[Piece]

    @property
    def first_age(self) -> str:
        """``older`` or ``newer`` than the second by its date; empty where that says nothing."""
        one, other = self.older.memory.created_at, self.newer.memory.created_at
        return "older" if one < other else "newer" if other < one else ""

    @property
    def second_age(self) -> str:
        """The same of the second."""
        return {"older": "newer", "newer": "older"}.get(self.first_age, "")

    @property
    def percent(self) -> int:
        """How close they are."""
        return round(100 * self.pair.similarity)


@dataclass(frozen=True, slots=True)
class PairPage:
    """Pairs, newest first."""

    pairs: list[Pair]
    total: int
    next_url: str


def draft_page(access: Access, asked: Asked) -> DraftPage:
    """Drafts that wait and pass the filters of the address."""
    wanted = asked.wanted.model_copy(update={"status": StatusFilter.DRAFT, "archived": Presence.FALSE})
    agents = agent_names(access)
    page = _at(asked.cursor, lambda cursor: list_memories(access, wanted, asked.sort, PAGE, cursor))
    found = count_facets(access, wanted, [facet for facet, _ in FACETS])
    groups = [
        Group(facet.value, title, values_of(asked, facet, found[facet.value])[:CHOICES_SHOWN])
        for facet, title in FACETS
    ]
    here = asked.address.without("cursor", "status", "archived")
    return DraftPage(
        drafts=[_draft(memory, agents) for memory in page.items],
        total=page.total,
        groups=[group for group in groups if group.choices],
        narrowed=[choice.label for group in groups for choice in group.choices if choice.selected],
        reject_url=str(here).replace(here.path, reverse("reject_drafts"), 1),
        clear_url=here.path,
        next_url=str(asked.address.having(cursor=page.next_cursor)) if page.next_cursor else "",
    )


def pair_page(access: Access, asked: Asked, tab: Tab) -> PairPage:
    """Pairs that wait in a tab."""
    agents = agent_names(access)
    page = _at(asked.cursor, lambda cursor: list_pairs(access, kinds=KINDS[tab], limit=PAGE, cursor=cursor))
    return PairPage(
        pairs=[_pair(pair, agents) for pair in page.items],
        total=page.total,
        next_url=str(asked.address.having(cursor=page.next_cursor)) if page.next_cursor else "",
    )


def _at[P](cursor: str | None, page: Callable[[str | None], P]) -> P:
    """The page at the cursor; the first one where it belongs to another list."""
    try:
        return page(cursor)
    except (CursorInvalid, CursorMismatch):
        return page(None)


def _draft(memory: Memory, agents: dict[str, str]) -> Draft:
    return Draft(memory, opened(memory), agents.get(memory.agent_id or "", memory.agent_id or ""))


def _pair(pair: DuplicatePair, agents: dict[str, str]) -> Pair:
    older, newer = _draft(pair.older, agents), _draft(pair.newer, agents)
    readable = older.text is not None and newer.text is not None
    pieces = word_diff(older.text or "", newer.text or "") if readable else []
    return Pair(pair, older, newer, pieces)
