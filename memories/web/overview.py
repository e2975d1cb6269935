"""The first page: what is there, what waits for a person, what just happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from banks.access import KeyScope
from banks.services.audit import list_audit
from banks.services.banks import list_banks
from memories.rules.filters import MemoryFilter
from memories.rules.vocabulary import JobState
from memories.search.facets import Facet, count_facets
from memories.search.standing import Standing, count_standing
from memories.services.jobs import count_jobs
from memories.services.reviewing import Waiting, count_waiting
from memories.web.activity import ActivityLine, activity_lines
from memories.web.addresses import Address
from memories.web.modelcalls import GuardRow, guard_rows
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from banks.access import Access
    from banks.models import Bank
    from memories.web.requests import HubRequest

RECENT = 7


@dataclass(frozen=True, slots=True)
class Tile:
    """One number and the list behind it."""

    label: str
    icon: str
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class BankBar:
    """One bank's share."""

    bank: Bank
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything memories/overview.html draws."""

    tiles: list[Tile]
    bars: list[BankBar]
    dead_jobs: int
    guards: list[GuardRow]
    """Those that hold calls back; empty when all is well."""
    lines: list[ActivityLine]
    is_empty: bool
    hub_url: str

    @property
    def most(self) -> int:
        """The longest bar."""
        return max([1, *(bar.count for bar in self.bars)])


def overview(request: HubRequest) -> HttpResponse:
    """Counts that lead to their lists."""
    return answer_page(request, "memories/overview.html", {"page": overview_page(request)})


def overview_page(request: HubRequest) -> Overview:
    """The page for this vault and this person."""
    access = request.access
    everything = MemoryFilter()
    standing = count_standing(access, everything)
    jobs = count_jobs(access) if access.has(KeyScope.OPS_READ) else {}
    listed = Address(reverse("memories"))
    return Overview(
        tiles=_tiles(standing, count_waiting(access), jobs, listed),
        bars=_bars(access, everything, listed),
        dead_jobs=jobs.get(JobState.DEAD, 0),
        guards=[row for row in guard_rows(access) if row.is_open] if access.has(KeyScope.OPS_READ) else [],
        lines=activity_lines(access, list_audit(access, RECENT)) if access.has(KeyScope.OPS_READ) else [],
        is_empty=standing[Standing.ALL] == 0,
        hub_url=request.build_absolute_uri("/").rstrip("/"),
    )


def _tiles(standing: dict[Standing, int], waiting: Waiting, jobs: dict[str, int], listed: Address) -> list[Tile]:
    tiles = [
        Tile("Active memories", "library", standing[Standing.ACTIVE], str(listed)),
        Tile("To review", "inbox", waiting.total, reverse("review")),
        Tile("Archived", "archive", standing[Standing.ARCHIVED], str(listed.having(archived="true"))),
    ]
    if jobs:
        going = jobs[JobState.PENDING] + jobs[JobState.RUNNING]
        tiles.append(Tile("Jobs waiting", "list-checks", going, reverse("jobs")))
    return tiles


def _bars(access: Access, wanted: MemoryFilter, listed: Address) -> list[BankBar]:
    counts = {str(value.value): value.count for value in count_facets(access, wanted, [Facet.BANK])[Facet.BANK]}
    bars = [BankBar(bank, counts.get(bank.name, 0), str(listed.having(bank=bank.slug))) for bank in list_banks(access)]
    return sorted(bars, key=lambda bar: -bar.count)
