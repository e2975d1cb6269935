"""What the list of memories shows: rows, and every filter as a link with its count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.contrib.humanize.templatetags.humanize import intcomma

from banks.access import KeyScope
from banks.services.banks import list_banks
from memories.search.listing import Order, browse_memories
from memories.search.survey import Surveyed
from memories.web.addresses import Address, address_of
from memories.web.asking import NAMES, Asked, asked_by, spans_of_ages
from memories.web.bulk import bulk_form
from memories.web.choices import (
    Chip,
    Choice,
    Offered,
    bank_tabs,
    chips_of,
    counted_for,
    facet_groups,
    orders_of,
    sizes_of,
)
from memories.web.columns import columns_of, heads_of, offers_of
from memories.web.emptiness import blame
from memories.web.querychips import ShownMistake, shown_mistakes
from memories.web.rows import LIST, MemoryRow, Shown, rows_of
from memories.web.savedviews import ViewLine, views_of
from memoryhub.lib.pagination import CursorInvalid, CursorMismatch

if TYPE_CHECKING:
    from banks.access import Access
    from memories.search.listing import Browsed
    from memories.web.bulk import BulkForm
    from memories.web.choices import Group
    from memories.web.columns import Column, Offer
    from memories.web.emptiness import Blame
    from memories.web.requests import HubRequest


@dataclass(frozen=True, slots=True)
class ListPage:
    """Everything memories/list.html draws."""

    asked: Asked
    rows: list[MemoryRow]
    total: int
    tabs: list[Choice]
    groups: list[Group]
    chips: list[Chip]
    mistakes: list[ShownMistake]
    orders: list[Choice]
    sizes: list[Choice]
    prev_url: str
    next_url: str
    may_write: bool
    bulk: BulkForm | None
    is_first_run: bool
    heads: list[Column]
    offers: list[Offer]
    blamed: list[Blame]
    views: list[ViewLine]
    #: Whether the counts beside the list could not be made.
    is_uncounted: bool

    @property
    def count_text(self) -> str:
        """``1,284 memories``."""
        return f"{intcomma(self.total)} {'memory' if self.total == 1 else 'memories'}"

    @property
    def has_more(self) -> bool:
        """Whether more match than this page shows."""
        return self.total > len(self.rows)

    @property
    def q(self) -> str:
        """The words searched for."""
        return self.asked.wanted.q

    @property
    def here(self) -> str:
        """This very page, to come back to."""
        return str(self.asked.address)

    @property
    def kept_without_q(self) -> tuple[tuple[str, str], ...]:
        """What the search field must carry along."""
        return self.asked.address.without("q", "cursor").values

    @property
    def kept_without_dates(self) -> tuple[tuple[str, str], ...]:
        """What the form of dates must carry along."""
        return self.asked.address.without("created_after", "created_before", "age", "cursor").values

    @property
    def created_after(self) -> str:
        """The date as the field holds it."""
        return self.asked.address.first("created_after")

    @property
    def created_before(self) -> str:
        """The date as the field holds it."""
        return self.asked.address.first("created_before")

    @property
    def order(self) -> str:
        """The chosen order in words."""
        return next(order.label for order in self.orders if order.selected)

    @property
    def clear_url(self) -> str:
        """The list without any filter."""
        return str(Address(self.asked.address.path).having(limit=self.asked.address.first("limit")))

    @property
    def wider_url(self) -> str:
        """The same in every state."""
        return str(self.asked.address.without("cursor").having(status="any", archived="any"))

    @property
    def more_url(self) -> str:
        """The same with more labels to filter by; empty where they are there."""
        return "" if self.asked.address.first("more") else str(self.asked.address.having(more="1"))

    @property
    def told(self) -> str:
        """This list, to go along in the addresses of its rows."""
        here = self.asked.address.without("cursor").values
        return f"?{urlencode({LIST: urlencode(here)})}" if here else ""

    @property
    def width(self) -> int:
        """How many cells a row has."""
        return len(self.heads) + 2 + bool(self.bulk)

    @property
    def only_bank(self) -> str:
        """The one bank looked at, for a new memory."""
        banks = self.asked.address.all("bank")
        return banks[0] if len(banks) == 1 else ""

    @property
    def notice(self) -> str:
        """What of the address meant nothing."""
        left_out = self.asked.left_out
        return f"Not understood and left out: {', '.join(left_out)}." if left_out else ""


def list_page(request: HubRequest) -> ListPage:
    """The list this address means."""
    access = request.access
    banks = list_banks(access, include_hidden=True)
    asked = asked_by(address_of(request.path, request.GET, NAMES), banks)
    found = _browsed(access, asked)
    page, offered = found.page, Offered(banks, found.survey)
    chips = chips_of(asked, offered)
    shown = columns_of(request, asked.address)
    stands = any(found.survey.standing.values()) if found.survey else True
    is_empty = not page.items and not page.total
    return ListPage(
        asked=asked,
        rows=rows_of(access, page.items, found.asked.names.agents, Shown(shown, asked.address)),
        total=page.total,
        tabs=bank_tabs(asked, offered),
        groups=facet_groups(asked, offered),
        chips=chips,
        mistakes=shown_mistakes(asked.wanted.q, page.mistakes),
        orders=orders_of(asked),
        sizes=sizes_of(asked),
        prev_url=_at(asked, page.prev_cursor),
        next_url=_at(asked, page.next_cursor),
        may_write=access.has(KeyScope.MEMORIES_WRITE),
        bulk=bulk_form(access, asked.address, banks),
        is_first_run=is_empty and not chips and not stands,
        heads=heads_of(shown, asked.address),
        offers=offers_of(shown),
        blamed=blame(access, asked.address.without("cursor"), found.asked.parted, chips) if is_empty else [],
        views=views_of(access, asked.address),
        is_uncounted=found.survey is None,
    )


def _browsed(access: Access, asked: Asked) -> Browsed:
    """The page at the cursor; the first one where the cursor belongs to another list or another day."""
    what = Surveyed(counted_for(asked), spans_of_ages())
    try:
        return browse_memories(access, asked.wanted, Order(asked.sort, asked.limit, asked.cursor), what)
    except (CursorInvalid, CursorMismatch):
        return browse_memories(access, asked.wanted, Order(asked.sort, asked.limit), what)


def _at(asked: Asked, cursor: str | None) -> str:
    return str(asked.address.having(cursor=cursor)) if cursor else ""
