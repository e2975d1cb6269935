"""What a newer statement does to an older one with the same fact key."""

from __future__ import annotations

import pytest

from memories.rules.facts import Fact
from memories.rules.firstperson import facts_in
from memories.rules.renewal import Renewal, outdated_in, renewal_of


@pytest.mark.parametrize(
    ("key", "old", "new", "renewal"),
    [
        ("home", "The user lives in Bergen.", "The user moved to Oslo.", Renewal.REPLACES),
        ("home", "The user lives in Oslo, Norway.", "The user lives in Oslo.", Renewal.BESIDE),
        ("name", "The user's name is Tim Meier.", "The user's name is Tim.", Renewal.BESIDE),
        ("favorite_color", "The user's favourite color is red.", "The user's favourite color is tan.",
         Renewal.REPLACES),
        ("preference_coffee", "The user loves coffee.", "The user hates coffee.", Renewal.REPLACES),
        ("preference_coffee", "The user loves coffee.", "The user likes coffee.", Renewal.BESIDE),
        ("preference_meat", "The user often eats meat.", "The user never eats meat.", Renewal.REPLACES),
        ("preference_coffee", "The user loves coffee.", "The user never drinks coffee.", Renewal.DISPUTES),
        ("preference_long_walks_city", "The user loves long walks in the city at night.",
         "The user hates long walks in the city by day.", Renewal.DISPUTES),
        ("family_sister", "The user has a sister.", "The user has a sister in Rome.", Renewal.BESIDE),
    ],
)  # fmt: skip
def test_what_the_newer_does(key: str, old: str, new: str, renewal: Renewal):
    """SUP-01, DEF-17: one value at a time replaces; likes only by their opposite; in doubt a person looks."""
    assert renewal_of(old, new, key) is renewal


def _read(*messages: str) -> list[Fact]:
    return [fact for number, said in enumerate(messages, start=1) for fact in facts_in(said, number)]


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        (("I live in Bergen.", "No, I moved: I live in Oslo now."), ["The user lives in Oslo."]),
        (("I live in Bergen. No, I moved: I live in Oslo now.",), ["The user lives in Oslo."]),
        (("I love coffee.", "I love tea.", "I hate coffee."), ["The user loves tea.", "The user hates coffee."]),
        (("I'm a nurse and I work as a painter.",), ["The user is a nurse.", "The user works as a painter."]),
        (("I'm a nurse. No, I'm a teacher.",), ["The user is a teacher."]),
        (("I live in Bergen.", "I live in Oslo.", "I live in Bergen."), ["The user lives in Bergen."]),
    ],
)
def test_the_last_word_of_a_conversation_stands(messages: tuple[str, ...], left: list[str]):
    facts = _read(*messages)
    outdated = outdated_in(facts)
    assert list(dict.fromkeys(fact.text for place, fact in enumerate(facts) if place not in outdated)) == left
