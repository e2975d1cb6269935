"""How many memories stand where, and how old they are: counts that lists offer as filters. One scan each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from django.db.models import Count, Q

from banks.access import Access, KeyScope
from memories.rules.filters import MemoryFilter, Presence, StatusFilter
from memories.rules.vocabulary import Status
from memories.search.filtering import Conditions, conditions, narrowed
from memoryhub.lib.clock import now


class Standing(StrEnum):
    """What a person may want to look at; each is a status and a presence."""

    ACTIVE = "active"
    DRAFTS = "drafts"
    ARCHIVED = "archived"
    DISCARDED = "discarded"
    ALL = "all"


FILTERS: dict[Standing, tuple[StatusFilter, Presence]] = {
    Standing.ACTIVE: (StatusFilter.ACCEPTED, Presence.FALSE),
    Standing.DRAFTS: (StatusFilter.DRAFT, Presence.FALSE),
    Standing.ARCHIVED: (StatusFilter.ACCEPTED, Presence.TRUE),
    Standing.DISCARDED: (StatusFilter.DISCARD, Presence.ANY),
    Standing.ALL: (StatusFilter.ANY, Presence.ANY),
}


def count_standing(access: Access, wanted: MemoryFilter) -> dict[Standing, int]:
    """Standing → memories, leaving out the filters of status and presence themselves. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    return standing_of(access, conditions(access, wanted))


def standing_of(access: Access, given: Conditions) -> dict[Standing, int]:
    """The same for conditions made already."""
    present = Q(archived_at=None, superseded_by=None) & (Q(expires_at=None) | Q(expires_at__gt=now()))
    counted = narrowed(access, given, leave_out=["status", "archived"]).aggregate(
        **{
            Standing.ACTIVE.value: Count("id", filter=present & Q(status=Status.ACCEPTED)),
            Standing.DRAFTS.value: Count("id", filter=present & Q(status=Status.DRAFT)),
            Standing.ARCHIVED.value: Count("id", filter=Q(archived_at__isnull=False, status=Status.ACCEPTED)),
            Standing.DISCARDED.value: Count("id", filter=Q(status=Status.DISCARD)),
            Standing.ALL.value: Count("id"),
        }
    )
    return {Standing(name): count for name, count in counted.items()}


type Span = tuple[dt.datetime | None, dt.datetime | None]


def ages_of(access: Access, given: Conditions, spans: Mapping[str, Span]) -> dict[str, int]:
    """Name → memories created in the span (from, before), leaving out the filter of creation."""
    rows = narrowed(access, given, leave_out=["created"])
    counts: dict[str, Any] = {name: Count("id", filter=_within(span)) for name, span in spans.items()}
    return rows.aggregate(**counts)


def _within(span: Span) -> Q:
    since, before = span
    condition = Q()
    if since is not None:
        condition &= Q(created_at__gte=since)
    if before is not None:
        condition &= Q(created_at__lt=before)
    return condition
