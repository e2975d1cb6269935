"""From the address of the list to what is asked of search. An address nobody can mean is answered, not refused."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memories.rules.filters import MemoryFilter, Sort
from memories.search.standing import Span
from memories.web.addresses import Address
from memories.web.forms import spoken
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banks.models import Bank

MANY = (
    *("bank", "type", "category", "role", "agent_id", "user_id", "session_id", "task_id", "tag", "entity"),
    *("source_kind", "confidence"),
)
ONE = ("q", "status", "archived", "min_importance", "created_after", "created_before")
OWN = ("age", "sort", "limit", "cursor", "columns", "view", "more")
NAMES = (*MANY, *ONE, *OWN)
SIZES = (25, 50, 100)
SORTS = {
    Sort.NEWEST: "Newest first",
    Sort.OLDEST: "Oldest first",
    Sort.CHANGED: "Last changed first",
    Sort.UNCHANGED: "Longest unchanged first",
    Sort.MOST_IMPORTANT: "Most important first",
    Sort.LEAST_IMPORTANT: "Least important first",
}
AGES = {"today": "Today", "7d": "Last 7 days", "30d": "Last 30 days", "older": "Older"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for, and what of it meant nothing."""

    address: Address
    wanted: MemoryFilter
    sort: Sort
    limit: int
    cursor: str | None
    left_out: list[str] = field(default_factory=list)


def spans_of_ages(at: dt.datetime | None = None) -> dict[str, Span]:
    """Age → from and before. Whole days (UTC), so that pages of one list stay pages of one list."""
    midnight = (at or now()).astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    week, month = midnight - dt.timedelta(days=6), midnight - dt.timedelta(days=29)
    return {"today": Span(midnight), "7d": Span(week), "30d": Span(month), "older": Span(before=month)}


def asked_by(address: Address, banks: Sequence[Bank]) -> Asked:
    """Never raises: unknown values are left out and named."""
    known = {bank.slug: bank.name for bank in banks}
    unknown = [slug for slug in address.all("bank") if slug not in known]
    left_out = [f"Bank “{slug}”" for slug in unknown]
    address = Address(
        address.path, tuple(pair for pair in address.values if pair not in {("bank", s) for s in unknown})
    )
    data = _named(address, known)
    span = spans_of_ages().get(address.first("age"), Span())
    data |= {name: value for name, value in (("created_after", span.since), ("created_before", span.before)) if value}
    try:
        wanted = MemoryFilter.parse(data)
    except Invalid as error:
        wrong = {item.pointer.split("/")[1] for item in error.errors}
        left_out += [f"{spoken(name)} “{address.first(name)[:40]}”" for name in sorted(wrong)]
        address = address.without(*wrong)
        wanted = MemoryFilter.parse({name: value for name, value in data.items() if name not in wrong})
    limit = address.first("limit")
    return Asked(
        address=address,
        wanted=wanted,
        sort=asked_sort(address),
        limit=int(limit) if limit in {str(size) for size in SIZES} else SIZES[0],
        cursor=address.first("cursor") or None,
        left_out=left_out,
    )


def asked_sort(address: Address) -> Sort:
    """The order the address asks for, the newest first where it asks for none."""
    said = address.first("sort")
    return Sort(said) if said in set(Sort) else Sort.NEWEST


def _named(address: Address, known: Mapping[str, str]) -> dict[str, Any]:
    """The values by filter; banks by their names instead of their slugs."""
    data: dict[str, Any] = {name: address.all(name) for name in MANY if address.all(name)}
    data |= {name: address.first(name) for name in ONE if address.first(name)}
    if "bank" in data:
        data["bank"] = [known[slug] for slug in data["bank"]]
    return data
