"""What a summary takes over from its sources."""

from __future__ import annotations

import pytest

from memories.rules.consolidated import common, prevailing, tags_of, united


@pytest.mark.parametrize(("values", "shared"), [("aaa", "a"), ("ab", None), ("", None)])
def test_common(values: str, shared: str | None):
    assert common(values) == shared


@pytest.mark.parametrize(("types", "most"), [("aab", "a"), ("ab", "b"), ("abab", "b"), ("baa", "a")])
def test_of_equally_many_the_latest_prevails(types: str, most: str):
    assert prevailing(list(types)) == most


def test_labels_of_most_come_first():
    """CLU-10: and the tag that says what it is is always there."""
    assert united([["a", "b"], ["b"], ["c", "b"]], 2) == ["b", "a"]
    assert tags_of([["a", "summarized"], ["b", "a"]], 32) == ["a", "b", "summarized"]
    assert tags_of([["a", "b", "c"]], 2) == ["a", "summarized"]
