"""Who a question is about."""

from __future__ import annotations

import pytest

from memories.rules.authors import is_first_person, only_named


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What does Alice drink?", "alice"),
        ("What is ALICE's tea?", "alice"),
        ("Do Alice and Bob know each other?", None),
        ("What runs in the home lab?", "home lab"),
        ("Who drinks malice?", None),
        ("Who drinks tea?", None),
    ],
)
def test_the_only_one_named(question, named):
    assert only_named(question, {"alice", "bob", "home lab", "", "?"}) == named


def test_first_person():
    assert is_first_person("What did I say?") and is_first_person("where is my key") and is_first_person("I'm late")
    assert not is_first_person("What did Ida say? IIS is on.") and not is_first_person("meme")
