"""Periodic work: enqueued when its time has come, once, for the vaults whose settings want it."""

from __future__ import annotations

import datetime as dt

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from banks.access import Access
from banks.models import VaultKey
from memories.jobs import JobKind
from memories.models import Job, Schedule
from memories.rules.settings import Level
from memories.services.schedules import Periodic, enqueue_periodic
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from tests.factories import make_vault

pytestmark = pytest.mark.django_db(transaction=True)
DAILY = Periodic(JobKind.SUMMARIZE_MEMORIES, switch="dedup", hours=24)


def later(hours: float) -> time_machine.travel:
    return time_machine.travel(now() + dt.timedelta(hours=hours), tick=False)


def waiting() -> list[str]:
    return [str(job.vault) for job in Job.objects.order_by("vault__name")]


def test_the_first_round_is_one_interval_after_the_vault_was_made(access: Access):
    """CLU-02: a new hub does not begin by changing what was just put in."""
    assert enqueue_periodic([DAILY]) == 0
    with later(23.9):
        assert enqueue_periodic([DAILY]) == 0
    with later(24.1):
        assert enqueue_periodic([DAILY]) == 1
        assert enqueue_periodic([DAILY]) == 0
    assert waiting() == ["Home"]
    with later(48):
        assert enqueue_periodic([DAILY]) == 0
    with later(24 * 30):
        assert enqueue_periodic([DAILY]) == 1
        assert enqueue_periodic([DAILY]) == 0, "what was missed is not made up for"


def test_nothing_due_is_one_statement(access: Access):
    """However many vaults there are."""
    make_vault("Office")
    enqueue_periodic([DAILY])
    with CaptureQueriesContext(connection) as asked:
        assert enqueue_periodic([DAILY]) == 0
    assert len(asked) == 1


def test_a_vault_that_wants_it_not_is_passed_by_until_it_does(access: Access):
    """CFG-01: the switch counts at once, both ways, and one bank is enough."""
    make_vault("Office")
    write_setting(access, Level.VAULT, "dedup", False)
    with later(25):
        assert enqueue_periodic([DAILY]) == 1
        assert waiting() == ["Office"]
        with CaptureQueriesContext(connection) as asked:
            enqueue_periodic([DAILY])
        assert len(asked) == 1
        write_setting(access, Level.BANK, "dedup", True, "Work")
        assert enqueue_periodic([DAILY]) == 1
    assert waiting() == ["Home", "Office"]


def test_a_changed_interval_counts_at_once(access: Access):
    hourly = Periodic(JobKind.SUMMARIZE_MEMORIES, switch=None, hours="summarization_interval_hours")
    enqueue_periodic([hourly])
    write_setting(access, Level.VAULT, "summarization_interval_hours", 1)
    with later(1.1):
        assert enqueue_periodic([hourly]) == 1


def test_a_round_with_nothing_to_do_leaves_no_job(access: Access):
    idle = Periodic(JobKind.DREAM, switch=None, hours=24, has_work=lambda _: False)
    with later(25):
        assert enqueue_periodic([idle]) == 0
        with CaptureQueriesContext(connection) as asked:
            enqueue_periodic([idle])
    assert len(asked) == 1
    assert not Job.objects.exists()


def test_a_vault_that_cannot_be_opened_holds_nobody_up(access: Access):
    """It is tried again an hour later, not at every sweep."""
    VaultKey.objects.filter(vault=make_vault("Shredded")).delete()
    with later(25):
        assert enqueue_periodic([DAILY]) == 1
        with CaptureQueriesContext(connection) as asked:
            enqueue_periodic([DAILY])
        assert len(asked) == 1
    assert waiting() == ["Home"]
    assert Schedule.objects.count() == 2
