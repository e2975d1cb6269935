"""Clean-up, dry run: what the rules would archive and why. Changes nothing (CLN-06, API-10)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from banks.access import Access, KeyScope
from memories.models import Memory
from memories.models.effective import effective_settings
from memories.rules.cleanup import SEED_RULES, CleanupRule, Subject, Thresholds, Verdict, count_by_reason, judge
from memories.rules.vocabulary import IndexState, MemoryType, Status
from memoryhub.lib.clock import now

SHOWN_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory the rules name, with every reason."""

    memory: Memory
    reasons: tuple[CleanupRule, ...]


@dataclass(frozen=True, slots=True)
class CleanupPreview:
    """What would be archived: how many, by which rule, and the first 1,000 of them, oldest first."""

    count: int
    by_reason: dict[str, int]
    candidates: list[Candidate]
    thresholds: Thresholds


def plan_cleanup(access: Access, rules: Collection[CleanupRule] | None = None) -> CleanupPreview:
    """What a clean-up by ``rules`` (the seed's four by default) would archive now. Needs cleanup:plan."""
    access.require(KeyScope.CLEANUP_PLAN)
    thresholds = _thresholds(effective_settings(access))
    at = now()
    verdicts = judge(_subjects(access, at, thresholds), at, thresholds, rules or SEED_RULES)
    return CleanupPreview(len(verdicts), count_by_reason(verdicts), _candidates(access, verdicts), thresholds)


def _thresholds(settings: Mapping[str, Any]) -> Thresholds:
    return Thresholds(
        episodic_age=dt.timedelta(days=settings["cleanup_episodic_age_days"].value),
        episodic_importance=settings["cleanup_episodic_importance"].value,
        stale_after=dt.timedelta(days=settings["cleanup_stale_days"].value),
        stale_importance=settings["cleanup_stale_importance"].value,
    )


def _subjects(access: Access, at: dt.datetime, limits: Thresholds) -> list[Subject]:
    """Rows a rule could name; the rules decide, SQL only leaves out what none of them can mean."""
    possible = (
        Q(type=MemoryType.EPISODIC, created_at__lt=at - limits.episodic_age, importance__lte=limits.episodic_importance)
        | Q(importance__lte=limits.stale_importance, updated_at__lt=at - limits.stale_after)
        | Q(index_state=IndexState.FAILED)
        | Q(superseded_by__isnull=False)
    )
    rows = Memory.objects.visible_to(access).filter(possible, archived_at=None, is_protected=False)
    rows = rows.exclude(status=Status.DISCARD).order_by("created_at", "id")
    # Plain values: building a model for every old row would cost more than finding it.
    columns = ("id", "type", "importance", "created_at", "updated_at", "index_state", "superseded_by_id")
    return [_subject(*row) for row in rows.values_list(*columns).iterator(5_000)]


def _subject(*row: Any) -> Subject:
    memory_id, kind, importance, created_at, updated_at, index_state, successor = row
    return Subject(
        id=memory_id,
        type=MemoryType(kind),
        importance=importance,
        created_at=created_at,
        updated_at=updated_at,
        index_state=IndexState(index_state),
        superseded=successor is not None,
    )


def _candidates(access: Access, verdicts: list[Verdict]) -> list[Candidate]:
    shown = verdicts[:SHOWN_MAX]
    ids: list[UUID] = [verdict.id for verdict in shown]
    rows = Memory.objects.visible_to(access).select_related("bank").in_bulk(ids)
    return [Candidate(rows[verdict.id], verdict.reasons) for verdict in shown if verdict.id in rows]
