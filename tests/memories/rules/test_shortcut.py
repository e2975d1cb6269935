"""The shortcut fires on plain preferences and on nothing else."""

from __future__ import annotations

import pytest

from memories.rules.shortcut import preference_in
from memories.rules.vocabulary import MemoryType

NEVER = (
    "What is the weather like today?",
    "I would like to know the time",
    "That is unlikely to work",
    "Do you love me?",
    "Tell me about gloves.",
    "I don't like rain",
    "I like this one",
    "Enjoy!",
    "Would you prefer tea?",
    "I'd like a pizza",
    "It looks like rain",
    "She loves tea",
    "I love you",
    "If I like it I will say so",
    "I love coffee and I live in Oslo",
    "I like to know",
)


@pytest.mark.parametrize(
    ("said", "kept", "key"),
    [
        ("I love coffee", "The user loves coffee.", "preference_coffee"),
        ("I prefer my tea without sugar.", "The user prefers their tea without sugar.", "preference_tea_without_sugar"),
        ("My favorite color is green!", "The user's favourite color is green.", "favorite_color"),
        ("my favourite band is Low", "The user's favourite band is Low.", "favorite_band"),
        ("i hate mornings", "The user hates mornings.", "preference_mornings"),
        ("Honestly, I really enjoy chess", "The user enjoys chess.", "preference_chess"),
    ],
)
def test_a_plain_preference_is_normalised(said: str, kept: str, key: str):
    """OPT-07, OPT-13, DEF-02: third person, with bank, importance and key."""
    fact = preference_in(said)
    assert fact is not None
    assert (fact.text, fact.key, fact.bank, fact.type) == (kept, key, "Personal", MemoryType.PREFERENCE)
    assert fact.importance in {3, 4}
    assert fact.confidence == 4


@pytest.mark.parametrize("said", NEVER)
def test_what_only_holds_the_letters_never_fires(said: str):
    """OPT-12, DEF-01."""
    assert preference_in(said) is None


@pytest.mark.parametrize("letter", ["o", "ö", "茶"])
def test_sixty_characters_are_short_and_one_more_is_not(letter: str):
    """OPT-11: Unicode code points."""
    said = "I love c" + letter * 52
    assert len(said) == 60
    assert preference_in(said) is not None
    assert preference_in(said + letter) is None
    assert preference_in(said + letter, longest=61) is not None


def test_the_keywords_are_the_verbs():
    assert preference_in("I collect stamps") is None
    assert preference_in("I collect stamps", ["collect"]) is not None
    assert preference_in("I love stamps", ["collect"]) is None
    assert preference_in("My favorite food is soup", ["love"]) is None
