"""Moments and texts as strangers write them."""

from __future__ import annotations

from typing import Any

import pytest

from memories.rules.importers.records import moment_of, texts_of


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2026-01-05T08:00:00", "2026-01-05T08:00:00+00:00"),
        ("2026-01-05 08:00:00+02:00", "2026-01-05T08:00:00+02:00"),
        ("2026-01-05T08:00:00Z", "2026-01-05T08:00:00+00:00"),
        (1767600000, "2026-01-05T08:00:00+00:00"),
        (1767600000000, "2026-01-05T08:00:00+00:00"),
        ("yesterday", None),
        ("0001-01-01T00:00:00+14:00", None),
        (float("inf"), None),
        (float("nan"), None),
        (1e300, None),
        (True, None),
        (None, None),
        ([], None),
    ],
)
def test_moments(value: Any, said: str | None):
    assert moment_of(value) == said


def test_texts():
    assert texts_of("a, b,,c ") == ["a", "b", "c"]
    assert texts_of(["a", 1, " "]) == ["a"]
    assert texts_of({"a": 1}) == []
