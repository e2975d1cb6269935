"""The dry run names what the rules name, and changes nothing."""

from __future__ import annotations

import datetime as dt

import pytest

from banks.access import Access, KeyScope
from banks.access.access import MissingScope
from memories.models import Memory, Revision
from memories.rules.cleanup import CleanupRule
from memories.rules.settings import Level
from memories.rules.vocabulary import IndexState
from memories.services.cleanup import plan_cleanup
from memories.services.lifecycle import archive_memory
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from tests.factories import access_of, make_key, remember

DAY = dt.timedelta(days=1)


def aged(access: Access, days: int, **more: object) -> Memory:
    return remember(
        access, f"Something {days} days old, {sorted(more.items())}.", created_at=str(now() - days * DAY), **more
    )


@pytest.fixture
def memories(access: Access) -> dict[str, Memory]:
    failed = remember(access, "Its vector could not be made.")
    Memory.objects.filter(pk=failed.pk).update(index_state=IndexState.FAILED)
    return {
        "stale": aged(access, 31, type="episodic", importance=2),
        "both": aged(access, 40, type="episodic", importance=1),
        "low": aged(access, 15, importance=1),
        "failed": failed,
        "young": aged(access, 29, type="episodic", importance=2),
        "weighty": aged(access, 99, type="episodic", importance=3),
        "protected": aged(access, 99, type="episodic", importance=1, is_protected=True),
        "archived": archive_memory(access, aged(access, 98, type="episodic", importance=1).pk),
    }


def test_each_candidate_stands_once_with_every_reason(access: Access, memories: dict[str, Memory]) -> None:
    """CLN-01…04, 08, 10: the seed's rules, oldest first; protected and archived ones never."""
    preview = plan_cleanup(access)
    named = {candidate.memory.pk: candidate.reasons for candidate in preview.candidates}
    assert named == {
        memories["both"].pk: (CleanupRule.STALE_EPISODIC, CleanupRule.LOW_STALE),
        memories["stale"].pk: (CleanupRule.STALE_EPISODIC,),
        memories["low"].pk: (CleanupRule.LOW_STALE,),
        memories["failed"].pk: (CleanupRule.FAILED_INDEXING,),
    }
    assert preview.count == 4
    assert preview.by_reason == {"stale_episodic": 2, "low_stale": 2, "failed_indexing": 1}


def standing() -> list[tuple[object, ...]]:
    columns = ("pk", "version", "updated_at", "archived_at", "status", "index_state")
    return list(Memory.objects.order_by("pk").values_list(*columns))


def test_nothing_changes(access: Access, memories: dict[str, Memory]) -> None:
    """CLN-06: not a row, not a version."""
    before = standing()
    revisions = Revision.objects.count()
    plan_cleanup(access)
    assert standing() == before
    assert Revision.objects.count() == revisions


def test_only_the_rules_asked_for(access: Access, memories: dict[str, Memory]) -> None:
    """CLN-07: one rule, or other thresholds."""
    assert plan_cleanup(access, [CleanupRule.FAILED_INDEXING]).count == 1
    write_setting(access, Level.VAULT, "cleanup_episodic_age_days", 20)
    young = memories["young"].pk
    assert young in {candidate.memory.pk for candidate in plan_cleanup(access).candidates}


def test_it_needs_its_scope(access: Access) -> None:
    """API-10: reading is not planning."""
    reader = access_of(make_key(access, frozenset({KeyScope.MEMORIES_READ}))[1])
    with pytest.raises(MissingScope):
        plan_cleanup(reader)
