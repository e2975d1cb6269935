"""The clean-up that comes round by itself."""

from __future__ import annotations

import datetime as dt

import pytest

from banks.access import Access
from memories.jobs import JobKind
from memories.models import CleanupPlan, Job, Memory
from memories.rules.settings import Level
from memories.services.running import run_job
from memories.services.schedules import enqueue_periodic
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from tests.factories import remember

pytestmark = pytest.mark.django_db
DAY = dt.timedelta(days=1)


@pytest.fixture
def stale(access: Access) -> Memory:
    """One expired, one stale among ten."""
    for number in range(8):
        remember(access, f"Locker {number} is taken.")
    expired = remember(access, "Parking is free today.")
    Memory.objects.filter(pk=expired.pk).update(expires_at=now() - DAY)
    old = {"created_at": str(now() - 40 * DAY), "type": "episodic", "importance": 2}
    return remember(access, "Long ago.", **old)


def round_of(access: Access) -> list[CleanupPlan]:
    """The plans there are after one round."""
    job = Job.objects.create(vault=access.vault, kind=JobKind.PLAN_CLEANUP)
    assert run_job(job.pk)
    return list(CleanupPlan.objects.order_by("created_at"))


def test_it_is_off_by_default_and_switched_on_by_a_vault(access: Access) -> None:
    """CFG-01."""
    type(access.vault).objects.filter(pk=access.vault_id).update(created_at=now() - 2 * DAY)
    jobs = Job.objects.filter(kind=JobKind.PLAN_CLEANUP)
    enqueue_periodic()
    assert not jobs.exists()
    write_setting(access, Level.VAULT, "cleanup_scheduled", True)
    enqueue_periodic()
    assert jobs.count() == 1


def test_it_leaves_a_plan_for_a_person_once(access: Access, stale: Memory) -> None:
    (plan,) = round_of(access)
    assert (plan.state, plan.count) == ("ready", 1)
    assert len(round_of(access)) == 1
    assert not Memory.objects.exclude(archived_at=None).exists()


def test_only_what_a_vault_named_is_applied_by_itself(access: Access, stale: Memory) -> None:
    write_setting(access, Level.VAULT, "cleanup_auto_apply", ["expired"])
    applied, waiting = round_of(access)
    assert (applied.rules, applied.state, waiting.state) == (["expired"], "applying", "ready")
    assert run_job(Job.objects.get(kind=JobKind.APPLY_CLEANUP).pk)
    assert [memory.content for memory in Memory.objects.exclude(archived_at=None)] == ["Parking is free today."]


def test_above_the_cap_even_that_waits_for_a_person(access: Access, stale: Memory) -> None:
    write_setting(access, Level.VAULT, "cleanup_auto_apply", ["expired"])
    write_setting(access, Level.VAULT, "cleanup_cap_share", 0.05)
    assert {plan.state for plan in round_of(access)} == {"ready"}
    assert not Memory.objects.exclude(archived_at=None).exists()


def test_with_nothing_to_do_nothing_is_kept(access: Access) -> None:
    remember(access, "Fresh.")
    assert round_of(access) == []
