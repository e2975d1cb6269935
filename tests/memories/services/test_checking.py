"""The update checker: asked by a job after the write, obeyed as far as the rules allow, missed without harm."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from memories.jobs import JobKind
from memories.models import Changeset, DuplicatePair, Job, Memory, ModelCall
from memories.rules.drafts import MemoryChanges
from memories.rules.limits import REASON_MAX
from memories.rules.retries import MAX_ATTEMPTS
from memories.rules.settings import Level
from memories.rules.vocabulary import JobState, Outcome
from memories.services.checking import compare_embedded
from memories.services.editing import update_memory
from memories.services.running import run_job
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from memoryhub.providers.base import ProviderError
from memoryhub.providers.fake_chat import FakeChatModel
from tests.endpoint import chat_model, embedding_service, embedding_with
from tests.factories import access_of, make_key, remember, write

OLD = "The monthly rent of the small flat is 900 euros."
NEW = "The monthly rent of the small flat is 950 euros."
REWORDED = "The monthly rent of the small flat amounts to 900 euros."
BOTH = "The monthly rent rose from 900 to 950 euros."


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeChatModel]:
    with chat_model(monkeypatch) as model:
        yield model


@pytest.fixture
def checked(access, chat):
    write_setting(access, Level.VAULT, "update_checker", "llm")
    return access


def answer(action: str, **more: object) -> str:
    return json.dumps({"action": action, **more})


def settle() -> Job:
    job = Job.objects.get(kind=JobKind.CHECK_UPDATES)
    run_job(job.pk)
    job.refresh_from_db()
    return job


def refreshed(memory: Memory) -> Memory:
    return Memory.objects.get(pk=memory.pk)


def test_a_write_does_not_wait_for_the_checker(checked, chat):
    """DEG-03: it is acknowledged as added, says that the checker decides, and a job with ids asks."""
    old = remember(checked, OLD)
    result = write(checked, NEW)
    assert (result.outcome, result.decided_by, result.similar_to) == (Outcome.CREATED, "update_checker", old.pk)
    assert chat.asked == []
    assert Job.objects.get().ref == {"memory_ids": [str(result.memory.pk)]}
    assert not DuplicatePair.objects.exists()


def test_nothing_alike_means_nobody_is_asked(checked, chat):
    """DUP-07: no call for what stands alone."""
    remember(checked, OLD)
    assert write(checked, "Invoices are due within 14 days.").decided_by == "no_match"
    assert not Job.objects.exists()


def test_add_keeps_both(checked, chat):
    """DUP-08: distinct, says the checker; the call is in the ledger with the ids it was about."""
    old, new = remember(checked, OLD), write(checked, NEW).memory
    chat.script(answer("ADD", reason="two flats"))
    assert settle().state == JobState.DONE
    assert not refreshed(old).archived and not refreshed(new).archived
    call = ModelCall.objects.get()
    assert (call.purpose, call.result, set(call.subjects)) == ("check_update", "ok", {old.pk, new.pk})
    shown = json.loads(chat.asked[0][-1].text)
    assert shown == {"new": NEW, "already_there": [{"id": "m1", "text": OLD}]}


def test_supersede_archives_the_old_one(checked, chat):
    """CON-09, SUP-02: as a version with the checker's reason, in a changeset."""
    old = remember(checked, OLD, fact_key="rent")
    new = write(checked, NEW, fact_key="rent").memory
    chat.script(answer("SUPERSEDE", target="m1", reason="raised"))
    settle()
    old = refreshed(old)
    assert (old.archived, old.superseded_by_id, old.archived_reason) == (True, new.pk, "raised")
    assert Changeset.objects.get().items.get().memory_id == old.pk


def test_without_an_equal_fact_key_a_changed_fact_goes_to_a_person(checked, chat):
    """CON-08: a number differs, so superseding needs the key, whoever wants it."""
    old, new = remember(checked, OLD), write(checked, NEW).memory
    chat.script(answer("SUPERSEDE", target="m1"))
    settle()
    assert not refreshed(old).archived
    pair = DuplicatePair.objects.get()
    assert (pair.older_id, pair.newer_id) == (old.pk, new.pk)


def test_update_merges_into_the_old_one(checked, chat):
    """DUP-11: the same id has the merged text; the new one is archived and names it."""
    old, new = remember(checked, OLD), write(checked, NEW).memory
    chat.script(answer("UPDATE", target="m1", merged_content=BOTH, reason="merged"))
    settle()
    assert refreshed(old).content == BOTH
    assert (refreshed(new).archived, refreshed(new).superseded_by_id) == (True, old.pk)
    assert Changeset.objects.get().items.count() == 2


@pytest.mark.parametrize(
    "merged, limit",
    [
        ("merged text", 100_000),
        (NEW, 100_000),
        (BOTH.replace("950", "960"), 100_000),
        (f"{BOTH} {'It rose. ' * 20}", 100),
        ("x" * 200_000, 100_000),
    ],
    ids=["words gone", "number dropped", "number changed", "longer than the bank takes", "longer than any"],
)
def test_a_merged_text_that_loses_or_swells_is_left_to_a_person(checked, chat, merged, limit):
    """CON-08, DUP-11: whatever a model says, neither text is replaced by one that does not hold its facts."""
    old, new = remember(checked, OLD), write(checked, NEW).memory
    write_setting(checked, Level.VAULT, "content_max_length", limit)
    chat.script(answer("UPDATE", target="m1", merged_content=merged))
    assert settle().state == JobState.DONE
    assert [(refreshed(one).content, refreshed(one).archived) for one in (old, new)] == [(OLD, False), (NEW, False)]
    assert DuplicatePair.objects.get().newer_id == new.pk
    assert not Changeset.objects.exists()


def test_what_happened_on_another_day_is_not_merged(checked, chat):
    """DESIGN §6: one memory has one day."""
    old = remember(checked, OLD, event_at="2026-01-05T10:00:00Z")
    write(checked, NEW, event_at="2026-01-06T10:00:00Z")
    chat.script(answer("UPDATE", target="m1", merged_content=BOTH))
    settle()
    assert refreshed(old).content == OLD
    assert DuplicatePair.objects.count() == 1


def test_a_checkers_reason_is_cut(checked, chat):
    """It is kept with the memory like a person's, so it is no longer than one."""
    old, new = remember(checked, OLD), write(checked, NEW).memory
    chat.script(answer("UPDATE", target="m1", merged_content=BOTH, reason="because " * 6_000))
    settle()
    assert refreshed(old).content == BOTH
    reason = refreshed(new).archived_reason
    assert reason is not None and len(reason) <= REASON_MAX


def test_skip_archives_the_new_one(checked, chat):
    """DUP-08, CON-17: what is skipped after the fact is archived, not deleted."""
    old, new = remember(checked, OLD), write(checked, REWORDED).memory
    chat.script(answer("SKIP", target="m1"))
    settle()
    assert (refreshed(new).archived, refreshed(new).superseded_by_id) == (True, old.pk)
    assert not refreshed(old).archived


def test_the_checker_skips_no_difference(checked, chat):
    """CON-08: never skipped, by any rule; a person looks at it."""
    remember(checked, OLD)
    new = write(checked, NEW).memory
    chat.script(answer("SKIP", target="m1"))
    settle()
    assert not refreshed(new).archived
    assert DuplicatePair.objects.get().newer_id == new.pk


@pytest.mark.parametrize("action", ["SUPERSEDE", "UPDATE"])
@pytest.mark.parametrize(
    "older, newer",
    [
        ({"is_protected": True}, {}),
        ({"type": "constraint"}, {"type": "constraint"}),
        ({"source_kind": "user_stated"}, {"source_kind": "web"}),
        ({}, {"status": "draft"}),
    ],
)
def test_what_the_checker_may_not_touch(checked, chat, action, older, newer):
    """SUP-08, DESIGN §6: protected, constraints, better believed, drafts."""
    old = remember(checked, OLD, fact_key="rent", **older)
    write(checked, NEW, fact_key="rent", **newer)
    chat.script(answer(action, target="m1", merged_content="Merged."))
    settle()
    assert (refreshed(old).content, refreshed(old).archived) == (OLD, False)
    assert DuplicatePair.objects.count() == 1


@pytest.mark.parametrize("said", ["not JSON at all", answer("SKIP", target="m7"), answer("explode"), "[]"])
def test_an_answer_that_cannot_be_read_keeps_both(checked, chat, said):
    """DUP-27: ADD, and the job is done."""
    remember(checked, OLD)
    new = write(checked, NEW).memory
    chat.script(said, said)
    assert settle().state == JobState.DONE
    assert not refreshed(new).archived
    assert Memory.objects.live().count() == 2


def test_what_was_changed_meanwhile_is_left_alone(checked, chat):
    """MOD-47: a person's edit during the call wins."""
    old = remember(checked, OLD, fact_key="rent")
    write(checked, NEW, fact_key="rent")

    class Meddling(FakeChatModel):
        def complete(self, turns, limits):
            update_memory(checked, old.pk, MemoryChanges.parse({"importance": 5}))
            return FakeChatModel.complete(chat, turns, limits)

    chat.script(answer("SUPERSEDE", target="m1"))
    chat.structured = Meddling.structured.__get__(Meddling())
    settle()
    assert not refreshed(old).archived


def test_a_failing_provider_defers_and_then_a_person_decides(checked, chat):
    """DEG-12, DEF-07: not marked done; when every attempt failed the pair waits for review."""
    old = remember(checked, OLD)
    new = write(checked, NEW).memory
    chat.script(*[ProviderError("down")] * MAX_ATTEMPTS)
    write_setting(checked, Level.VAULT, "enable_error_guard", False)
    job = settle()
    assert job.state == JobState.PENDING
    assert not DuplicatePair.objects.exists()
    while job.state == JobState.PENDING:
        Job.objects.filter(pk=job.pk).update(due_at=now())
        job = settle()
    assert job.state == JobState.DEAD
    pair = DuplicatePair.objects.get()
    assert (pair.older_id, pair.newer_id) == (old.pk, new.pk)


def test_without_a_model_the_ladder_decides(access):
    """DUP-12: asked for but not configured: as if there were no checker."""
    write_setting(access, Level.VAULT, "update_checker", "llm")
    old = remember(access, OLD, fact_key="rent")
    new = write(access, NEW, fact_key="rent").memory
    assert settle().state == JobState.DONE
    assert refreshed(old).superseded_by_id == new.pk


def test_vectors_made_later_are_compared_later(access, monkeypatch):
    """DEF-08: with a remote embedder the job that embeds also compares; close pairs wait for a person."""
    with embedding_service() as service, embedding_with(monkeypatch, service):
        old, new = remember(access, OLD), write(access, NEW)
        assert new.similar_to is None
        run_job(Job.objects.get().pk)
    pair = DuplicatePair.objects.get()
    assert (pair.older_id, pair.newer_id, pair.differences) == (old.pk, new.memory.pk, ["number"])


def test_the_checker_is_not_shown_what_the_writer_could_not_reach(checked, chat):
    """BNK-02: a key of Work learns nothing of Health by having its memory merged with one there."""
    hidden = remember(checked, OLD, bank="Health")
    limited = access_of(make_key(checked, banks=["Work"])[1])
    own = remember(limited, "The monthly rent of the small flat is 940 euros.", bank="Work")
    new = write(limited, NEW, bank="Work").memory
    chat.script(answer("ADD", reason="two flats"))
    settle()
    (asked,) = chat.asked
    assert "940" in str(asked) and "900" not in str(asked)
    assert [refreshed(one).version for one in (hidden, own, new)] == [1, 1, 1]


def test_vectors_made_later_meet_only_what_the_writer_reached(checked):
    """BNK-02: nor is the pair left to anybody."""
    remember(checked, OLD, bank="Health")
    limited = access_of(make_key(checked, banks=["Work"])[1])
    new = write(limited, NEW, bank="Work").memory
    compare_embedded(checked, [new.pk], ask=False)
    assert not DuplicatePair.objects.exists()
    everywhere = write(access_of(make_key(checked)[1]), REWORDED.replace("900", "960"), bank="Work").memory
    compare_embedded(checked, [everywhere.pk], ask=False)
    assert DuplicatePair.objects.exists()
