"""Where memories stand and how old they are, as a person asks for it."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import NamedTuple

from django.db.models import Count, Q

from banks.access import Access, KeyScope
from memories.rules.filters import MemoryFilter, Presence, StatusFilter
from memories.rules.vocabulary import Status
from memories.search.filtering import conditions, narrowed
from memoryhub.lib.clock import now


class Standing(StrEnum):
    """What a person may want to look at; each is a status and a presence."""

    ACTIVE = "active"
    DRAFTS = "drafts"
    ARCHIVED = "archived"
    DISCARDED = "discarded"
    ALL = "all"

    @property
    def condition(self) -> Q:
        """What makes a memory stand so; the same as FILTERS says in words."""
        match self:
            case Standing.ACTIVE | Standing.DRAFTS:
                status = Status.ACCEPTED if self is Standing.ACTIVE else Status.DRAFT
                unexpired = Q(expires_at=None) | Q(expires_at__gt=now())
                return Q(archived_at=None, superseded_by=None, status=status) & unexpired
            case Standing.ARCHIVED:
                return Q(archived_at__isnull=False, status=Status.ACCEPTED)
            case Standing.DISCARDED:
                return Q(status=Status.DISCARD)
            case Standing.ALL:
                return Q(pk__isnull=False)


FILTERS: dict[Standing, tuple[StatusFilter, Presence]] = {
    Standing.ACTIVE: (StatusFilter.ACCEPTED, Presence.FALSE),
    Standing.DRAFTS: (StatusFilter.DRAFT, Presence.FALSE),
    Standing.ARCHIVED: (StatusFilter.ACCEPTED, Presence.TRUE),
    Standing.DISCARDED: (StatusFilter.DISCARD, Presence.ANY),
    Standing.ALL: (StatusFilter.ANY, Presence.ANY),
}


class Span(NamedTuple):
    """From the first moment, before the second; None leaves a side open."""

    since: dt.datetime | None = None
    before: dt.datetime | None = None

    @property
    def condition(self) -> Q:
        """Created in the span."""
        condition = Q(created_at__isnull=False)
        if self.since is not None:
            condition &= Q(created_at__gte=self.since)
        if self.before is not None:
            condition &= Q(created_at__lt=self.before)
        return condition


def count_standing(access: Access, wanted: MemoryFilter) -> dict[Standing, int]:
    """Standing → memories, leaving out the filters of status and presence themselves. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    rows = narrowed(access, conditions(access, wanted), leave_out=["status", "archived"])
    counted = rows.aggregate(**{each.value: Count("id", filter=each.condition) for each in Standing})
    return {Standing(name): count for name, count in counted.items()}
