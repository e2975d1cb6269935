"""Numbers that name what a text is about, and numbers that are values."""

from __future__ import annotations

import pytest

from memories.management.bench.pairs import Label, read_pairs
from memories.rules.dedup import kind_of
from memories.rules.differences import differences, same_subject
from memories.rules.subjects import numbered_subject
from memories.rules.vocabulary import PairKind

OTHERS = [
    ("Locker 0 holds skates.", "Locker 1 holds skates."),
    ("Locker 0 holds skates.", "Locker 3 holds the spare lamps."),
    ("The locker 4 is empty.", "The locker 5 is not empty."),
    ("Room 204 has a projector.", "Hall 3 has 2 projectors."),
    ("Bus 12 stops at the clinic.", "Bus 21 stops at the clinic."),
    ("Version 1.4.2 fixes the login.", "Version 1.4.3 fixes the login."),
    ("Invoice 1042 was paid in March.", "Invoice 1043 was paid in May."),
    ("Invoice no. 7 wasn't paid.", "Invoice no. 8 was paid."),
    ("Gate 12 opens at 8.", "Gate 12b opens at 9."),
    ("Ticket #311 blocked the release.", "Ticket #312 blocked the release."),
    ("Our bay 3 takes vans.", "Our bay 4 takes vans."),
]
#: Each of these says of one thing two values.
SAME = [
    ("The hub listens on port 8000.", "The hub listens on port 8001."),
    ("Locker 3 holds 5 skates.", "Locker 3 holds 7 skates."),
    ("Locker 3 is free.", "Locker 3 is not free."),
    ("Room 204 seats 12 people.", "Room 204 seats 14 people."),
    ("Rent 900 euros.", "Rent 950 euros."),
    ("Rent 900 euros monthly.", "Rent 950 euros monthly."),
    ("Budget 900.", "Budget 950."),
    ("Buy 3 apples today.", "Buy 5 apples today."),
    ("Take 2 pills daily.", "Take 3 pills daily."),
    ("Needs 3 chairs upstairs.", "Needs 4 chairs upstairs."),
    ("Every 30 minutes a sensor reports.", "Every 3 minutes a sensor reports."),
    ("Marta has 2 brothers.", "Marta has 3 brothers."),
    ("The team has 5 engineers.", "The team has 6 engineers."),
    ("The garden needs 3 bags of soil.", "The garden needs 5 bags of soil."),
    ("Jonas owns 2 vans today.", "Jonas owns 3 vans today."),
    ("The parcel is in locker 17.", "The parcel is in locker 71."),
    ("The train is on platform 4.", "The train is on platform 14."),
    ("At 9 is lunch.", "At 8 is lunch."),
    ("May 3 is a holiday.", "May 13 is a holiday."),
    ("The flat is on the third floor.", "The flat is on the fourth floor."),
]


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_what_is_said_of_two_things_is_no_contradiction(one: str, other: str):
    """CON-08: both stay and may still be looked at, but neither denies the other."""
    assert kind_of(differences(one, other)) is kind_of(differences(other, one)) is PairKind.NEAR


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_values_of_one_thing_contradict_each_other(one: str, other: str):
    assert kind_of(differences(one, other)) is kind_of(differences(other, one)) is PairKind.CONTRADICTION


def test_a_fact_key_still_says_that_it_is_the_same_fact():
    """What replaces by its fact key goes on doing so: the key says more than the words."""
    assert same_subject("Version 1.4.2 is out.", "Version 1.4.3 is out.")


def test_of_the_labelled_pairs_only_those_about_two_things_change():
    """The pairs of `bench dedup` whose newer one is an update or a denial are as contradictory as they were."""
    named = {pair.older.split()[0] for pair in read_pairs() if _names_others(pair.older, pair.newer)}
    assert named == {"Invoice", "Locker", "Room", "Version", "Bus"}
    assert all(pair.label is Label.NUMBER for pair in read_pairs() if _names_others(pair.older, pair.newer))


def _names_others(one: str, other: str) -> bool:
    left, right = numbered_subject(one), numbered_subject(other)
    return bool(left and right) and left != right


@pytest.mark.parametrize(
    "text", ["", "7", "Locker", "Locker 7", "Locker 7 is", "x" * 50_000, "a1 " * 9_000, "12 " * 9_000]
)
def test_any_text_can_be_asked(text: str):
    assert numbered_subject(text) in ("", "locker 7")
