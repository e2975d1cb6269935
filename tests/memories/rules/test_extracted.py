"""Answers of models, as they are."""

from __future__ import annotations

from typing import Any

import pytest

from memories.rules.extracted import ExtractedFact, ExtractedFacts
from memories.rules.vocabulary import MemoryCategory, MemoryType
from memoryhub.providers.chat import UnreadableAnswer
from memoryhub.providers.reading import read_answer

FACT = '{"fact_text": "The user bakes", "fact_key": "habit_baking", "importance": 0.7, "memory_bank": "Personal"}'


@pytest.mark.parametrize(
    "answer",
    [
        f"[{FACT}]",
        f"```json\n[{FACT}]\n```",
        f"Here you are: [{FACT}] Anything else?",
        FACT,
        f'{{"memories": [{FACT}]}}',
        f'[{FACT}, {{"fact_key": "no_text"}}, 7]',
    ],
)
def test_however_it_is_wrapped(answer: str):
    """EXT-09, EXT-16, EXT-18, DEF-22."""
    (found,) = read_answer(answer, ExtractedFacts).memories
    fact = found.to_fact([1, 2])
    assert (fact.text, fact.key, fact.bank) == ("The user bakes", "habit_baking", "Personal")
    assert (fact.importance, fact.confidence, fact.sources) == (4, 3, (1, 2))


def test_nothing_is_an_answer_and_nonsense_is_none():
    """EXT-18: zero valid elements of a non-empty answer is an error."""
    assert read_answer("[]", ExtractedFacts).memories == []
    for answer in ('[{"fact_key": "a"}, 7]', "I found nothing."):
        with pytest.raises(UnreadableAnswer):
            read_answer(answer, ExtractedFacts)


@pytest.mark.parametrize(
    ("given", "score"),
    [
        (1.0, 5),
        (0.7, 4),
        (0.5, 3),
        (0.1, 1),
        (0, 1),
        (-3, 1),
        (4, 4),
        (99, 5),
        ("0.8", 4),
        (None, 3),
        (True, 3),
        ("high", 3),
    ],
)
def test_scores_of_either_scale(given: Any, score: int):
    """CON-02, MOD-34."""
    assert ExtractedFact.model_validate({"fact_text": "The user bakes", "importance": given}).importance == score


def test_labels_are_made_safe():
    raw = {
        "text": "The user\nloves  tea",
        "fact_key": "Preference: Tea!",
        "category": "moods",
        "sources": ["2", 9, "x"],
    }
    fact = ExtractedFact.model_validate(raw).to_fact([1, 2])
    assert (fact.text, fact.key, fact.type) == ("The user loves tea", "preference_tea", MemoryType.PREFERENCE)
    assert (fact.category, fact.sources) == (MemoryCategory.USER_PROFILE, (2,))
