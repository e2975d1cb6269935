"""Whom memories are about: users, agents and sessions, with how much there is of each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Max, Min

from banks.access import Access, KeyScope
from memories.models import Memory
from memoryhub.lib.clock import now

#: Of each kind; the most spoken of first.
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Subject:
    """An id as memories carry it, how many recall may return with it, and when the first came and the last changed."""

    id: str
    memories: int
    created_at: dt.datetime
    updated_at: dt.datetime


def list_subjects(access: Access, columns: Sequence[str]) -> Mapping[str, list[Subject]]:
    """Column (``user_id``, ``agent_id``, ``session_id``) → its subjects, at most 1,000. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    moment = now()
    return {column: _subjects(access, column, moment) for column in columns}


def _subjects(access: Access, column: str, moment: dt.datetime) -> list[Subject]:
    rows = (
        Memory.objects.visible_to(access)
        .recallable(moment)
        .exclude(**{column: None})
        .order_by()
        .values_list(column)
        .annotate(memories=Count("pk"), first=Min("created_at"), last=Max("updated_at"))
        .order_by("-memories", column)
    )
    return [Subject(*row) for row in rows[:MOST]]
