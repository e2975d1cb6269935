"""Windows of a conversation: whole rounds, whole tool calls, the newest first, never without the newest question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules.vocabulary import Role
from memories.rules.windowing import Item, WindowLimits, whole_until, window

S, H = Item(Role.SYSTEM, 10), Item(Role.HUMAN, 10)
A = Item(Role.AI, 10)


def asks(*calls: str, speaks: bool = True) -> Item:
    return Item(Role.AI, 10, calls, speaks=speaks)


def result(call: str) -> Item:
    return Item(Role.TOOL, 10, answers=call)


def places(items: list[Item], **limits: int) -> list[int]:
    return [kept.place for kept in window(items, WindowLimits(**limits))]


@pytest.mark.parametrize(
    ("items", "rounds", "kept"),
    [
        ([H, A, H, A, H, A], 2, [2, 3, 4, 5]),
        ([H, A, H, A, H, A], 1, [4, 5]),
        ([H, A, H, A, H, A], 3, [0, 1, 2, 3, 4, 5]),
        ([H, A, H, A, H, A], 9, [0, 1, 2, 3, 4, 5]),
        ([A, H, A], 1, [1, 2]),  # a greeting belongs to no round
        ([H, H, H], 2, [1, 2]),
        ([A, A], 1, [0, 1]),  # nobody asked yet: nothing to cut at
        ([], 3, []),
    ],
)
def test_a_round_starts_at_a_human_message(items: list[Item], rounds: int, kept: list[int]):
    """STM-02, STM-08."""
    assert places(items, rounds=rounds) == kept


def test_system_messages_survive_and_stay_in_place():
    """STM-06, STM-07."""
    items = [S, H, A, S, H, A]
    assert places(items, rounds=1) == [0, 3, 4, 5]
    assert places(items, tokens=1) == [0, 3, 4]
    assert places(items, messages=1) == [0, 3, 4, 5]


@pytest.mark.parametrize(
    ("tokens", "kept"),
    [(60, [0, 1, 2, 3, 4, 5]), (59, [1, 2, 3, 4, 5]), (20, [4, 5]), (19, [4]), (1, [4])],
)
def test_the_newest_that_fit_and_always_the_newest_question(tokens: int, kept: list[int]):
    """STM-11: filled from the newest; the newest human message is never lost."""
    assert places([H, A, H, A, H, A], tokens=tokens) == kept


def test_no_holes_when_something_does_not_fit():
    """An old small message is not shown past a newer large one that was left out."""
    assert places([H, A, Item(Role.AI, 500), H, A], tokens=60) == [3, 4]


def test_limit_counts_the_newest_before_the_integrity_pass():
    """STM-10, DEF-24: three newest, and the result whose call is older than those starts nothing."""
    items = [H, asks("a"), result("a"), A, A]
    assert places(items, messages=3) == [0, 3, 4]
    assert places(items, messages=4) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("items", "kept", "stripped"),
    [
        ([H, asks("a", "b"), result("a"), result("b"), A], [0, 1, 2, 3, 4], []),
        ([H, asks("a", "b"), result("b"), result("a"), A], [0, 1, 2, 3, 4], []),
        ([H, asks("a", "b"), result("a"), A], [0, 1, 3], [1]),  # one result is missing: calls and result go
        ([H, asks("a", "b", speaks=False), result("a"), A], [0, 3], []),  # and it said nothing else
        ([H, result("a"), A], [0, 2], []),  # nobody made that call
        ([H, asks("a"), H, result("a"), A], [0, 1, 2, 3, 4], []),  # somebody spoke while the tool worked
        ([H, asks("a"), result("a"), result("a"), A], [0, 1, 2, 4], []),  # answered twice: the first counts
        ([H, asks("a"), result("a"), H, asks("a"), result("a")], [0, 1, 2, 3, 4, 5], []),  # a call id used again
        ([H, asks("a"), result("a"), H, asks("a")], [0, 1, 2, 3, 4], [4]),
    ],
)
def test_a_call_stays_with_all_its_results_or_goes(items: list[Item], kept: list[int], stripped: list[int]):
    """STM-04, STM-09: parallel calls too."""
    shown = window(items, WindowLimits())
    assert [one.place for one in shown] == kept
    assert [one.place for one in shown if one.stripped] == stripped


def test_a_call_cut_by_the_budget_takes_its_results_along():
    items = [H, asks("a", "b"), result("a"), result("b"), A]
    assert places(items, tokens=49) == [0, 4]
    assert places(items, tokens=50) == [0, 1, 2, 3, 4]


def test_a_cut_by_rounds_leaves_no_result_behind():
    """The result came after the cut, its call before it."""
    assert places([H, asks("a"), H, result("a"), A], rounds=1) == [2, 4]


CALLS = st.lists(st.sampled_from("abc"), max_size=3, unique=True).map(tuple)
ITEMS = st.lists(
    st.one_of(
        st.builds(Item, st.sampled_from([Role.SYSTEM, Role.HUMAN, Role.AI]), st.integers(0, 50)),
        st.builds(Item, st.just(Role.AI), st.integers(0, 50), CALLS, st.none(), st.booleans()),
        st.builds(Item, st.just(Role.TOOL), st.integers(0, 50), st.just(()), st.sampled_from("abc")),
    ),
    max_size=30,
)
MAYBE = st.one_of(st.none(), st.integers(1, 200))


@given(ITEMS, st.builds(WindowLimits, MAYBE, MAYBE, MAYBE))
def test_every_window_keeps_the_promises(items: list[Item], limits: WindowLimits):
    """STM-04, 07, 08, 09, 10, 11 for any conversation and any limits."""
    shown = window(items, limits)
    kept = [one.place for one in shown]
    whole = {one.place for one in shown if not one.stripped}
    humans = [place for place, item in enumerate(items) if item.role is Role.HUMAN]

    assert kept == sorted(set(kept))
    assert {place for place, item in enumerate(items) if item.role is Role.SYSTEM} <= set(kept)
    assert not humans or humans[-1] in kept
    if limits.rounds is not None:
        assert len([place for place in kept if place in humans]) <= limits.rounds
    free = [place for place in kept if items[place].role is not Role.SYSTEM and place not in humans[-1:]]
    if limits.tokens is not None and free:
        assert sum(items[place].tokens for place in kept) <= limits.tokens
    if limits.messages is not None:
        newest = [place for place, item in enumerate(items) if item.role is not Role.SYSTEM][-limits.messages :]
        assert set(free) <= set(newest)
    for place in whole:
        answered = {items[later].answers for later in kept if later > place and items[later].role is Role.TOOL}
        assert set(items[place].calls) <= answered
    for place in kept:
        if items[place].role is Role.TOOL:
            assert any(earlier < place and items[place].answers in items[earlier].calls for earlier in whole)


@given(ITEMS, st.integers(0, 30))
def test_a_summary_never_tears_a_call_from_its_result(items: list[Item], place: int):
    """SUM-09."""
    cut = whole_until(items, place)
    assert 0 <= cut <= place
    humans = [each for each, item in enumerate(items) if item.role is Role.HUMAN]
    assert not humans or cut <= humans[-1]
    before = window(items[:cut], WindowLimits())
    together = {one.place for one in window(items, WindowLimits()) if one.place < cut and not one.stripped}
    assert together <= {one.place for one in before if not one.stripped}
