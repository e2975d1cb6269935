"""Dreams: the next version of the core document, each change by name, or no change at all (TIE-05…07, 18…20)."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.db import connection

from banks.access import Access
from memories.jobs import JobKind
from memories.models import CoreDocument, CoreVersion, Dream, Job, Memory, NoteLine, Revision
from memories.rules.consolidation import What
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import MemoryFilter, SearchQuery
from memories.rules.settings import Level
from memories.rules.vocabulary import DreamState, JobState
from memories.search.coredocument import compare_core_versions, read_core_document
from memories.search.dreams import get_dream, list_dreams
from memories.search.listing import list_memories
from memories.search.recall import search_memories
from memories.services.coredocument import restore_core_version
from memories.services.dreams import deep_dream
from memories.services.editing import update_memory
from memories.services.lifecycle import archive_memory
from memories.services.notes import forget_notes
from memories.services.running import run_job
from memories.services.schedules import enqueue_periodic
from memories.services.sessions import flush_session
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from tests.factories import converse, remember

pytestmark = pytest.mark.django_db


def told(access: Access, *said: str | dict[str, Any], sid: str = "s1", **more: Any) -> None:
    """A conversation that was read."""
    converse(access, sid, *said, **more)
    job_id = flush_session(access, sid).job_id
    if job_id is not None:
        run_job(job_id)


def dream(access: Access, days: int = 3, namespace: tuple[str, ...] = ("default",)) -> Dream:
    """A dream that was dreamt, or tried."""
    asked = deep_dream(access, namespace, days)
    assert asked.job_id is not None
    run_job(asked.job_id)
    asked.refresh_from_db()
    return asked


def core(access: Access, namespace: tuple[str, ...] = ("default",), version: int | None = None) -> list[str]:
    return [line.text for line in read_core_document(access, namespace, version).lines]


def everything() -> list[Any]:
    """What a dream that changes nothing leaves alone, byte by byte; that a document can be there is no change."""
    with connection.cursor() as cursor:
        rows = [list(CoreDocument.objects.exclude(version=0).values())]
        for table in (CoreVersion, Memory, NoteLine, Revision):
            cursor.execute(f"SELECT t::text FROM {table._meta.db_table} t ORDER BY id")
            rows.append(cursor.fetchall())
    return rows


LEEDS, NURSE = "The user lives in Leeds.", "The user works as a nurse."


def test_what_was_noted_becomes_the_core_document(access: Access):
    """TIE-05, TIE-07: a first version, and a diary entry that says why of every line."""
    told(access, "I live in Leeds and I work as a nurse.")
    asked = dream(access)
    assert core(access) == [LEEDS, NURSE]
    assert (asked.state, asked.version_before, asked.version_after, asked.by_model) == (DreamState.DONE, 0, 1, False)
    assert asked.counts == {"read": 2, "lines": 2, "added": 2, "changed": 0, "dropped": 0, "left_out": 0}
    entry = get_dream(access, asked.pk)
    assert [(change.what, change.text, change.reason) for change in entry.changes] == [
        (What.ADDED, LEEDS, "promoted"),
        (What.ADDED, NURSE, "promoted"),
    ]
    assert Job.objects.get(kind=JobKind.DREAM).state == JobState.DONE


def test_nothing_new_changes_nothing(access: Access):
    """TIE-18, TIE-07: no notes, then the same notes again."""
    converse(access, "s1", "Hello.")
    before = everything()
    asked = dream(access)
    assert (asked.state, asked.reason) == (DreamState.SKIPPED, "nothing_noted")
    assert everything() == before
    told(access, "I live in Leeds.")
    dream(access)
    before = everything()
    again = dream(access)
    assert (again.state, again.reason, again.version_after) == (DreamState.SKIPPED, "nothing_new", None)
    assert everything() == before
    told(access, "I live in Leeds.", sid="s2")
    assert dream(access).state == DreamState.UNCHANGED
    assert CoreVersion.objects.count() == 1


def test_it_reads_as_far_back_as_it_was_asked_to(access: Access):
    """CON-19: lookback in days; by hand 3."""
    for days, said in {2: "I live in Leeds.", 5: "I work as a nurse.", 40: "I am allergic to nuts."}.items():
        at = (now() - dt.timedelta(days=days)).isoformat()
        told(access, {"role": "human", "content": said, "created_at": at}, sid=f"s{days}")
    assert dream(access, 1).reason == "nothing_noted"
    assert dream(access, 3).counts["read"] == 1
    assert dream(access, 30).counts["read"] == 2


def test_two_namespaces_never_mix(access: Access):
    """TIE-20, DEF-17: neither in notes nor in documents nor in the diary."""
    told(access, "I live in Leeds.", sid="s1", namespace=["home"])
    told(access, "I live in York.", sid="s2", namespace=["work"])
    dream(access, namespace=("home",))
    assert (core(access, ("home",)), core(access, ("work",)), core(access)) == ([LEEDS], [], [])
    dream(access, namespace=("work",))
    assert (core(access, ("home",)), core(access, ("work",))) == ([LEEDS], ["The user lives in York."])
    assert [one.namespace for one in list_dreams(access, ("work",))] == [["work"]]
    assert all("York" not in change.text for change in get_dream(access, list_dreams(access, ("home",))[0].id).changes)


def test_the_document_follows_its_memories(access: Access):
    """DEF-19: edited, replaced and archived memories change their lines, each by name."""
    told(access, "I live in Leeds and I work as a nurse. I am allergic to nuts.")
    dream(access)
    home, job, allergy = (Memory.objects.get(fact_key__startswith=key) for key in ("home", "job", "allergy"))
    update_memory(access, job.pk, MemoryChanges.parse({"content": "The user works as a senior nurse."}))
    archive_memory(access, allergy.pk)
    told(access, "I moved. I live in York.", sid="s2")
    asked = dream(access)
    assert core(access) == ["The user lives in York.", "The user works as a senior nurse."]
    assert [(change.what, change.reason, change.before) for change in get_dream(access, asked.pk).changes][:2] == [
        (What.CHANGED, "superseded", LEEDS),
        (What.CHANGED, "edited", NURSE),
    ]
    assert core(access, version=1) == [LEEDS, NURSE, allergy.content]
    _, _, changes = compare_core_versions(access, ("default",), 1, 2)
    assert [(one.before and one.before.text, one.after and one.after.text) for one in changes] == [
        (None, "The user lives in York."),
        (NURSE, "The user works as a senior nurse."),
        (LEEDS, None),
        (allergy.content, None),
    ]
    assert home.pk in CoreVersion.objects.get(number=1).memory_ids


def test_going_back_brings_it_back_exactly(access: Access):
    """TIE-18, DEF-19: as a new version; what was noted before is not dreamt of again."""
    told(access, "I live in Leeds.")
    dream(access)
    told(access, "I work as a nurse.", sid="s2")
    dream(access)
    first, second = CoreVersion.objects.order_by("number")
    shown = restore_core_version(access, ("default",), 1)
    third = CoreVersion.objects.get(number=3)
    assert (third.lines, third.memory_ids, third.restored_from) == (first.lines, first.memory_ids, 1)
    assert (shown.version, [line.text for line in shown.lines]) == (3, [LEEDS])
    assert CoreVersion.objects.get(number=2).lines == second.lines
    assert dream(access).reason == "nothing_noted"
    restore_core_version(access, ("default",), 1)
    assert CoreDocument.objects.get().version == 3
    assert restore_core_version(access, ("default",), 0).lines == []
    assert restore_core_version(access, ("default",), 2).lines != []


def test_no_room(access: Access):
    """TIE-12, CON-12, DEF-20: the least sure goes first and is named; a constraint stays."""
    write_setting(access, Level.VAULT, "core_max_lines", 2)
    told(access, "I live in Leeds. I work as a nurse. I am allergic to nuts.")
    constraint = remember(access, "Never call the user before nine.", type="constraint", confidence=1)
    last = NoteLine.objects.order_by("pk").last()
    assert last is not None
    NoteLine.objects.filter(pk=last.pk).update(memory_ids=[*last.memory_ids, constraint.pk])
    asked = dream(access)
    assert "Never call the user before nine." in core(access)
    assert len(core(access)) == 2
    assert {change.reason for change in get_dream(access, asked.pk).changes} == {"promoted", "limit"}


def test_the_diary_is_in_no_answer(access: Access):
    """TIE-19: neither searched nor listed: what is found are memories."""
    told(access, "I live in Leeds.")
    dream(access)
    found = search_memories(access, SearchQuery(query="promoted diary dream Leeds", threshold=0.0)).hits
    assert {hit.memory.pk for hit in found} <= set(Memory.objects.values_list("pk", flat=True))
    assert list_memories(access, MemoryFilter()).total == 1


def test_erasing_reaches_every_version_and_the_diary(access: Access):
    """The line goes from the present, from the snapshots and from what was said about it."""
    told(access, "I live in Leeds and I work as a nurse.")
    dream(access)
    home = Memory.objects.get(fact_key="home")
    told(access, "I live in York.", sid="s2")
    asked = dream(access)
    assert forget_notes(access, [home.pk]) == 4
    assert core(access, version=1) == [NURSE]
    assert core(access) == ["The user lives in York.", NURSE]
    assert all("Leeds" not in change.text + change.before for change in get_dream(access, asked.pk).changes)
    rows: list[Any] = [*CoreVersion.objects.all(), *Dream.objects.all(), *NoteLine.objects.all()]
    for row in rows:
        assert home.pk not in row.memory_ids


def test_one_that_waits_is_answered(access: Access):
    """Asked twice at once: one dream, as far back as the farther."""
    first = deep_dream(access, ("default",), 2)
    second = deep_dream(access, ("default",), 7)
    assert (second.pk, second.lookback_days, Job.objects.filter(kind=JobKind.DREAM).count()) == (first.pk, 7, 1)


def later(days: int) -> time_machine.travel:
    return time_machine.travel(now() + dt.timedelta(days=days), tick=False)


def test_every_night_where_something_is_new(access: Access):
    """GEN-06: by schedule, of every namespace with something that no dream has read; nothing otherwise."""
    told(access, "I live in Leeds.", sid="s1", namespace=["home"])
    told(access, "I live in York.", sid="s2", namespace=["work"])
    dream(access, namespace=("work",))
    with later(days=2):
        enqueue_periodic()
        night = Job.objects.get(kind=JobKind.DREAM, dedupe_key="schedule")
        run_job(night.pk)
        asked = Dream.objects.get(is_scheduled=True)
        assert (asked.namespace, asked.lookback_days) == (["home"], 2)
        assert asked.job_id is not None
        run_job(asked.job_id)
        assert core(access, ("home",)) == [LEEDS]
    with later(days=4):
        assert enqueue_periodic() == 0


def test_switched_off(access: Access):
    """GEN-06: no night, but by hand."""
    write_setting(access, Level.VAULT, "enable_dreams", False)
    told(access, "I live in Leeds.")
    with later(days=2):
        enqueue_periodic()
        assert not Job.objects.filter(kind=JobKind.DREAM).exists()
    assert dream(access).state == DreamState.DONE
