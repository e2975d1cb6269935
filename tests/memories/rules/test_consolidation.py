"""The next core document: every line follows its memories, and none goes without a reason (DEF-19, TIE-05, TIE-12)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules.consolidation import Consolidated, Material, What, consolidate
from memories.rules.coretext import Audience, CoreLine, Remembered, line_of
from memories.rules.layers import INFO
from memories.rules.promotion import PromotionRules

RULES = PromotionRules.of({key: info.default for key, info in INFO.items()})
WORK, HEALTH = Audience(UUID(int=1)), Audience(UUID(int=2))
START = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)


def memory(number: int, text: str, **more: Any) -> Remembered:
    values: dict[str, Any] = {
        "id": UUID(int=1000 + number),
        "version": 1,
        "text": text,
        "audience": WORK,
        "type": "fact",
        "importance": 3,
        "confidence": 4,
        "is_protected": False,
        "at": START + dt.timedelta(hours=number),
        **more,
    }
    return Remembered(**values)


def dreamt(
    noted: Sequence[Remembered],
    core: Sequence[CoreLine] = (),
    known: Sequence[Remembered] = (),
    rules: PromotionRules = RULES,
    mentions: int = 1,
) -> Consolidated:
    everything = {one.id: one for one in (*noted, *known)}
    ids = [one.id for one in noted]
    return consolidate(Material(core, ids, everything, dict.fromkeys(ids, mentions)), rules)


def texts(result: Consolidated) -> list[str]:
    return [one.line.text for one in result.lines]


def told(result: Consolidated) -> list[tuple[What, str, str]]:
    return [(change.what, change.text, change.reason) for change in result.changes]


HOME = memory(1, "The user lives in Leeds.", fact_key="home")
JOB = memory(2, "The user works as a nurse.", fact_key="job")


def test_what_was_noted_comes_in():
    result = dreamt([HOME, JOB])
    assert texts(result) == [HOME.text, JOB.text]
    assert told(result) == [(What.ADDED, HOME.text, "promoted"), (What.ADDED, JOB.text, "promoted")]


def test_twice_is_once():
    """TIE-18: the same notes again change nothing."""
    once = dreamt([HOME, JOB])
    again = dreamt([HOME, JOB], [one.line for one in once.lines])
    assert [one.line for one in again.lines] == [one.line for one in once.lines]
    assert told(again) == []


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"importance": 1}, "too_unimportant"),
        ({"confidence": 3}, "too_doubtful"),
        ({"gone": "draft"}, "draft"),
        ({"gone": "archived"}, "archived"),
    ],
)
def test_what_stays_out_is_named(more: dict[str, Any], reason: str):
    result = dreamt([replace(HOME, **more)])
    assert (texts(result), told(result)) == ([], [(What.LEFT_OUT, HOME.text, reason)])


def test_said_often_is_important_enough():
    assert texts(dreamt([replace(HOME, importance=1)], mentions=2)) == [HOME.text]


@pytest.mark.parametrize("gone", ["archived", "discarded", "expired", "unreadable"])
def test_a_line_goes_with_its_memory_and_is_named(gone: str):
    """DEF-19: dropped, with why."""
    result = dreamt([], [line_of(HOME)], [replace(HOME, gone=gone)])
    assert (texts(result), told(result)) == ([], [(What.DROPPED, HOME.text, gone)])
    assert told(dreamt([], [line_of(HOME)])) == [(What.DROPPED, HOME.text, "erased")]


def test_an_edited_memory_changes_its_line():
    edited = replace(HOME, text="The user lives in York.", version=2)
    result = dreamt([], [line_of(HOME)], [edited])
    assert told(result) == [(What.CHANGED, edited.text, "edited")]
    assert result.changes[0].before == HOME.text
    assert told(dreamt([], [line_of(HOME)], [replace(HOME, version=2)])) == []


def test_the_successor_takes_the_place():
    """Newer wins; what the line came from before is named, so that it can be erased."""
    newer = memory(3, "The user lives in York.", fact_key="home")
    old = replace(HOME, gone="superseded", successor=newer.id)
    result = dreamt([], [line_of(HOME)], [old, newer])
    assert told(result) == [(What.CHANGED, newer.text, "superseded")]
    assert set(result.changes[0].memory_ids) == {HOME.id, newer.id}
    both = dreamt([newer], [line_of(HOME), line_of(newer)], [old])
    assert (texts(both), told(both)) == ([newer.text], [(What.DROPPED, HOME.text, "superseded")])


def test_the_newer_of_two_that_exclude_each_other_stays():
    newer = memory(3, "The user lives in York.", fact_key="home")
    result = dreamt([newer, HOME], [line_of(HOME)])
    assert (texts(result), told(result)[0]) == ([newer.text], (What.DROPPED, HOME.text, "contradicted"))
    again = dreamt([newer, HOME], [one.line for one in result.lines])
    assert (texts(again), told(again)) == ([newer.text], [(What.LEFT_OUT, HOME.text, "contradicted")])
    elsewhere = replace(newer, audience=HEALTH)
    assert sorted(texts(dreamt([HOME, elsewhere]))) == [HOME.text, newer.text]
    somebody_else = replace(newer, user_id="u2")
    assert sorted(texts(dreamt([HOME, somebody_else]))) == [HOME.text, newer.text]


def test_what_is_reserved_outlives_what_contradicts_it():
    """DEF-20: protected, a constraint or a correction stays as it is."""
    newer = memory(3, "The user lives in York.", fact_key="home")
    assert texts(dreamt([replace(HOME, is_protected=True), newer])) == [HOME.text, newer.text]


def test_the_same_in_other_words_is_said_once():
    """Only what the dedup rules call the same; a number or a name that differs stays beside it."""
    same = memory(3, "the user resides in Leeds")
    result = dreamt([HOME, same])
    assert (texts(result), told(result)[0]) == ([HOME.text], (What.LEFT_OUT, same.text, "said_already"))
    assert len(texts(dreamt([memory(4, "The rent is 900 euros."), memory(5, "The rent is 950 euros.")]))) == 2
    assert len(texts(dreamt([HOME, replace(same, audience=HEALTH)]))) == 2
    kept = dreamt([HOME, replace(same, type="constraint")])
    assert texts(kept) == [same.text]


def test_no_room_for_the_least_sure():
    """TIE-12: what cannot stay at all is left out, what was there is dropped; both are named."""
    sure, unsure = replace(HOME, confidence=5), memory(3, "The user might like tea.")
    rules = replace(RULES, core_lines=1)
    assert told(dreamt([unsure], [line_of(sure)], [sure], rules)) == [(What.LEFT_OUT, unsure.text, "limit")]
    result = dreamt([sure], [line_of(unsure)], [unsure], rules)
    assert told(result) == [(What.DROPPED, unsure.text, "limit"), (What.ADDED, sure.text, "promoted")]


def test_words_for_several_hold_while_all_of_them_do():
    merged = CoreLine("A nurse in Leeds.", WORK, ((HOME.id, 1), (JOB.id, 1)))
    assert told(dreamt([HOME], [merged], [JOB])) == []
    result = dreamt([], [merged], [HOME, replace(JOB, gone="archived")])
    assert told(result) == [
        (What.DROPPED, merged.text, "sources_changed"),
        (What.ADDED, HOME.text, "sources_changed"),
    ]


def test_a_memory_that_moved_moves_its_line():
    """A line is read by those of its bank: it follows its memory there."""
    moved = replace(HOME, audience=HEALTH, version=2)
    (one,) = dreamt([], [line_of(HOME)], [moved]).lines
    assert one.line.audience == HEALTH


_TEXTS = ["lives in Leeds", "lives in York", "resides in Leeds", "pays 900", "pays 950", "never pays", "likes tea"]
_MEMORIES = st.builds(
    lambda number, text, importance, confidence, type, bank, key, gone: memory(
        number,
        f"The user {text}.",
        importance=importance,
        confidence=confidence,
        type=type,
        audience=bank,
        fact_key=key,
        gone=gone,
    ),
    number=st.integers(0, 30),
    text=st.sampled_from(_TEXTS),
    importance=st.integers(1, 5),
    confidence=st.integers(1, 5),
    type=st.sampled_from(["fact", "constraint", "correction", "preference"]),
    bank=st.sampled_from([WORK, HEALTH]),
    key=st.sampled_from([None, "home"]),
    gone=st.sampled_from(["", "", "", "archived"]),
)


@given(st.lists(_MEMORIES, max_size=12, unique_by=lambda one: one.id), st.integers(0, 12), st.integers(1, 8))
def test_nothing_is_lost_unnamed_and_twice_is_once(memories: list[Remembered], there: int, limit: int):
    """DEF-19, TIE-18: what was there is there, changed or dropped by name; a second time changes nothing."""
    rules = replace(RULES, core_lines=limit)
    core, noted = [line_of(one) for one in memories[:there]], memories[there:]
    result = dreamt(noted, core, memories[:there], rules)
    lines = [one.line for one in result.lines]
    named = {change.text for change in result.changes if change.what is What.DROPPED}
    assert {line.text for line in core if line not in lines} <= named
    assert {line.text for line in lines if line not in core} <= {
        change.text for change in result.changes if change.what is What.ADDED
    }
    again = dreamt(noted, lines, memories[:there], rules)
    assert [one.line for one in again.lines] == lines
    assert all(change.what is What.LEFT_OUT for change in again.changes)
