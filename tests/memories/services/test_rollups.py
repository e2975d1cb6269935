"""Counts by the hour and the day: exact whatever changes a row, the same however often they are added up."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection, transaction

from banks.access import Access
from memories.calls.ledger import record_skip
from memories.jobs import JobKind
from memories.models import Job, Memory, Rollup, Tally
from memories.rules.drafts import MemoryChanges
from memories.rules.rollups import Metric, Period
from memories.rules.vocabulary import AccessPurpose, Purpose, SkipReason, Status
from memories.search.statistics import Statistics, count_in_banks, read_statistics
from memories.services.accesses import flush_accesses, record_accesses
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.jobs import claim_job, enqueue_job, fail_job, finish_job
from memories.services.lifecycle import archive_memory, change_status
from memories.services.rollups import fill_rollups, fold_tallies, roll_up
from memories.services.shredding import shred_vault
from memoryhub.lib.clock import now
from tests.factories import operator, remember, write

pytestmark = pytest.mark.django_db
DAY = dt.timedelta(days=1)


def read(access: Access, period: Period = Period.MONTH) -> Statistics:
    return read_statistics(access, period, list(Metric))


def totals(access: Access, metric: Metric) -> dict[str, int]:
    return {label: total for label, values in read(access).flow(metric).items() if (total := sum(values))}


def stands(access: Access) -> dict[str, int]:
    """What the counts say there is."""
    counted: Counter[str] = Counter()
    for of_bank in count_in_banks(access).values():
        counted.update(of_bank)
    return dict(counted)


def a_life(access: Access) -> None:
    """One memory of every fate, and a duplicate."""
    kept, put_away, gone = (remember(access, f"{name} lives in the old mill.") for name in ("Ana", "Bo", "Cy"))
    draft = remember(access, "Perhaps the mill is sold.", status="draft")
    rejected = remember(access, "The mill is on fire.", status="draft")
    write(access, "Ana lives in the old mill.")
    write(access, "Ana left the mill in May.", supersedes=str(kept.pk))
    archive_memory(access, put_away.pk)
    change_status(access, rejected.pk, Status.DISCARD)
    erase_memory(access, gone.pk)
    assert draft.status == Status.DRAFT


def test_every_change_is_counted_where_it_happens(access):
    """Created by what became of it, standing as it stands, writes by their outcome."""
    a_life(access)
    fates = {"active": 1, "draft": 1, "archived": 1, "superseded": 1, "discarded": 1}
    assert stands(access) == fates
    assert totals(access, Metric.CREATED) == {**fates, "erased": 1}
    assert totals(access, Metric.MENTIONED) == {**fates, "erased": 1}
    assert totals(access, Metric.WRITTEN) == {"created": 5, "duplicate_exact": 1, "superseded": 1}


def test_adding_up_changes_no_number_and_twice_adds_nothing(access):
    """What is tallied and what is rolled up are read together, so a fold is invisible; a second one is empty."""
    a_life(access)
    before = read(access)
    assert roll_up() > 0
    assert not Tally.objects.exists()
    again = read(access)
    assert again.level(Metric.STANDING) == before.level(Metric.STANDING)
    assert [again.flow(metric) for metric in Metric if metric != Metric.FILLED] == [
        before.flow(metric) for metric in Metric if metric != Metric.FILLED
    ]
    assert fold_tallies() == 0
    assert read(access).counts == again.counts


def test_a_fold_that_is_killed_counts_nothing(access):
    """Tallies go and rows come in one transaction."""
    a_life(access)
    before, waiting = totals(access, Metric.CREATED), Tally.objects.count()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        fold_tallies()
        raise ZeroDivisionError
    assert Tally.objects.count() == waiting
    assert not Rollup.objects.exists()
    roll_up()
    assert totals(access, Metric.CREATED) == before


def test_a_write_that_is_undone_was_not_counted(access):
    """The tally is part of the transaction it tells of."""
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        remember(access, "Never mind.")
        raise ZeroDivisionError
    assert not Tally.objects.exists()


def test_history_is_filled_in_from_what_is_stored(access):
    """A store from before there were counts: the same numbers come out, erased memories from the audit included."""
    a_life(access)
    enqueue_job(access.vault_id, JobKind.KEEP_INDEX)
    record_skip(access, Purpose.EXTRACT, SkipReason.SHORTCUT)
    counted = [Metric.CREATED, Metric.MENTIONED, Metric.STANDING, Metric.WAITING, Metric.SKIPPED]
    before, now_there = [totals(access, metric) for metric in counted], stands(access)
    Tally.objects.all().delete()
    roll_up()
    assert [totals(access, metric) for metric in counted] == before
    assert stands(access) == now_there
    assert not Tally.objects.exists()
    fill_rollups(access.vault_id)
    roll_up()
    assert [totals(access, metric) for metric in counted] == before
    assert "written" not in set(Rollup.objects.values_list("metric", flat=True)), "what is not known is not made up"


def test_a_vault_is_filled_once(access, monkeypatch):
    """The sweep leaves a mark; a vault that has it is not counted through again."""
    roll_up()
    asked: list[Any] = []
    monkeypatch.setattr("memories.services.rollups.fill_rollups", asked.append)
    roll_up()
    assert asked == []


def test_the_past_is_counted_where_it_lies(access):
    """An import brings memories of last week: they stood since then, and are told of when they were said."""
    at = now() - 5 * DAY
    remember(access, "Planted the pear tree.", created_at=at.isoformat(), event_at=(at - 3 * DAY).isoformat())
    found = read(access)
    assert found.flow(Metric.CREATED)["active"][-6] == 1
    assert found.flow(Metric.MENTIONED)["active"][-9] == 1
    assert found.level(Metric.STANDING)["active"][-8:] == [0, 0, 1, 1, 1, 1, 1, 1]


def test_what_expires_counts_as_expired_from_then_on(access):
    """Nothing is written when a memory expires; until then it was active, and put away it is archived."""
    at = now()
    for name, days in (("pear", -2), ("plum", -2), ("fig", 2)):
        tree = remember(access, f"Water the {name} tree.", created_at=(at - 5 * DAY).isoformat())
        Memory.objects.filter(pk=tree.pk).update(expires_at=at + days * DAY)
    gone = remember(access, "Perhaps a quince.", status="draft", created_at=(at - 5 * DAY).isoformat())
    Memory.objects.filter(pk=gone.pk).update(expires_at=at - 6 * DAY)
    for _ in range(2):
        assert stands(access) == {"active": 1, "expired": 3}
        assert totals(access, Metric.CREATED) == totals(access, Metric.MENTIONED) == {"active": 1, "expired": 3}
        found = read(access)
        assert found.level(Metric.STANDING)["active"][-7:] == [0, 3, 3, 3, 1, 1, 1]
        assert found.level(Metric.STANDING)["expired"][-7:] == [0, 1, 1, 1, 3, 3, 3], "a draft that came in expired"
        roll_up()
    archive_memory(access, tree.pk)
    archive_memory(access, Memory.objects.filter(expires_at__lt=at, status=Status.ACCEPTED)[0].pk)
    assert stands(access) == {"archived": 2, "expired": 2}


def test_a_key_of_one_bank_hears_of_no_other_ones_expiry(access):
    """The reach of the counts is that of the key."""
    memory = remember(access, "The boat needs paint.", bank="Work")
    Memory.objects.filter(pk=memory.pk).update(expires_at=now() - DAY)
    other = remember(access, "The shed needs paint.", bank="Personal")
    limited = replace(access, bank_ids=frozenset({other.bank_id}))
    assert count_in_banks(limited) == {other.bank_id: {"active": 1}}
    assert sum(map(sum, read(limited).flow(Metric.CREATED).values())) == 1


def test_what_moves_to_another_bank_is_counted_there(access):
    """Old bank less one, new bank one more; the day it was created on keeps it."""
    memory = remember(access, "The boat needs paint.", bank="Work")
    update_memory(access, memory.pk, MemoryChanges.parse({"bank": "Personal"}))
    roll_up()
    moved = Memory.objects.get(pk=memory.pk)
    assert count_in_banks(access) == {moved.bank_id: {"active": 1}}
    assert sum(read(access).flow(Metric.CREATED, moved.bank_id)["active"]) == 1


def test_being_read_tallies_no_change(access):
    """The stamp on a recalled memory is no event of the memory; the recall is."""
    memory = remember(access, "Tea at four.")
    roll_up()
    record_accesses(access, [memory.pk], AccessPurpose.SEARCH, "tea")
    flush_accesses()
    assert list(Tally.objects.values_list("metric", "label", "n")) == [("recalled", "active", 1)]


def test_a_job_that_is_tried_again_ends_once(access):
    """Queue depth goes down when it ends; a failed attempt is put back, not ended."""
    enqueue_job(access.vault_id, JobKind.KEEP_INDEX)
    job = Job.objects.get(vault=access.vault)
    first = claim_job(job.pk)
    assert first is not None
    fail_job(first, "no luck")
    assert totals(access, Metric.WAITING) == {"pending": 1}
    assert totals(access, Metric.ENDED) == {"put_back": 1}
    Job.objects.filter(pk=job.pk).update(due_at=now())
    second = claim_job(job.pk)
    assert second is not None
    finish_job(second)
    assert totals(access, Metric.WAITING) == {}
    assert totals(access, Metric.ENDED) == {"put_back": 1, "done": 1}


def test_the_longest_queue_is_seen_and_seen_twice_is_the_same(access):
    """The greatest of what each sweep saw."""
    for _ in range(3):
        enqueue_job(access.vault_id, JobKind.KEEP_INDEX)
    roll_up()
    roll_up()
    Job.objects.all().delete()
    roll_up()
    assert read(access, Period.DAY).flow(Metric.PEAK) == {"": [0] * 23 + [3]}


def test_hours_are_kept_for_ninety_days_and_days_for_good(access):
    """Retention of what the plots need; nothing else reads hours."""
    for days in (89, 91):
        Tally.objects.create(vault=access.vault, at=now() - days * DAY, metric="written", label="created", n=1)
    roll_up()
    written = Rollup.objects.filter(metric="written")
    assert written.filter(span="hour").count() == 1
    assert written.filter(span="day").count() == 2
    Rollup.objects.filter(span="hour").update(at=now() - 91 * DAY)
    roll_up()
    assert not Rollup.objects.filter(span="hour", metric="written").exists()


def test_another_vault_and_a_shredded_one_leave_no_trace(access, other_access):
    """Counts are of one vault; when it is shredded they go, also those its deletion left."""
    remember(access, "Mine.")
    remember(other_access, "Theirs.")
    assert totals(access, Metric.CREATED) == {"active": 1}
    roll_up()
    shred_vault(operator(access.vault), access.vault.name)
    roll_up()
    assert not Rollup.objects.filter(vault=access.vault).exists()
    assert not Tally.objects.filter(vault=access.vault).exists()
    assert totals(other_access, Metric.CREATED) == {"active": 1}


def test_no_number_comes_from_a_scan_of_the_memories(access):
    """A page reads counts, and by its own index what has expired: nothing else of the memories."""
    remember(access, "Once.")
    with connection.execute_wrapper(_refuse_scans), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # of a table this small the planner reads all there is
        read(access)
        count_in_banks(access)


def _refuse_scans(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
    if "memories_memory" in sql:
        plan = execute(f"EXPLAIN {sql}", params, many, context) or context["cursor"].fetchall()
        scans = [line for (line,) in plan if "on memories_memory" in line]
        assert len(scans) == 1
        assert "using memory_expiring" in scans[0]
    return execute(sql, params, many, context)
