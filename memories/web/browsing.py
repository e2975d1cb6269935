"""What the list of memories shows: rows, and every filter as a link with its count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.humanize.templatetags.humanize import intcomma

from banks.access import KeyScope
from banks.services.banks import list_banks
from memories.search.facets import Facet
from memories.search.listing import list_memories
from memories.search.survey import survey_memories
from memories.web.addresses import Address, address_of
from memories.web.asking import NAMES, Asked, asked_by, spans_of_ages
from memories.web.bulk import bulk_form
from memories.web.choices import Choice, Offered, bank_tabs, chips_of, facet_groups, orders_of, sizes_of
from memories.web.querychips import ShownMistake, shown_mistakes
from memories.web.rows import MemoryRow, row_of
from memoryhub.lib.pagination import CursorInvalid, CursorMismatch

if TYPE_CHECKING:
    from banks.access import Access
    from memories.search.listing import MemoryPage
    from memories.web.bulk import BulkForm
    from memories.web.choices import Group
    from memories.web.requests import HubRequest

COUNTED = (Facet.BANK, Facet.TYPE, Facet.CATEGORY, Facet.AGENT)


@dataclass(frozen=True, slots=True)
class ListPage:
    """Everything memories/list.html draws."""

    asked: Asked
    rows: list[MemoryRow]
    total: int
    tabs: list[Choice]
    groups: list[Group]
    chips: list[Choice]
    mistakes: list[ShownMistake]
    orders: list[Choice]
    sizes: list[Choice]
    prev_url: str
    next_url: str
    may_write: bool
    bulk: BulkForm | None
    is_first_run: bool

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
    page = _page(access, asked)
    offered = Offered(banks, survey_memories(access, asked.wanted, COUNTED, spans_of_ages()))
    agents = {str(value.value): value.label for value in offered.facets[Facet.AGENT]}
    chips = chips_of(asked, offered)
    return ListPage(
        asked=asked,
        rows=[row_of(memory, agents, access) for memory in page.items],
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
        is_first_run=page.total == 0 and not chips and not any(offered.survey.standing.values()),
    )


def _page(access: Access, asked: Asked) -> MemoryPage:
    """The page at the cursor; the first one where the cursor belongs to another list or another day."""
    try:
        return list_memories(access, asked.wanted, asked.sort, asked.limit, asked.cursor)
    except (CursorInvalid, CursorMismatch):
        return list_memories(access, asked.wanted, asked.sort, asked.limit)


def _at(asked: Asked, cursor: str | None) -> str:
    return str(asked.address.having(cursor=cursor)) if cursor else ""
