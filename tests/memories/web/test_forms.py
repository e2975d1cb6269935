"""Labels in one field, and back."""

from __future__ import annotations

import pytest

from memories.web.forms import TextField, joined, parted


@pytest.mark.parametrize("labels", [[], ["a"], ["a", "b c"], ["Smith, John"], ["Smith, John", "b"]])
def test_labels_survive_the_field(labels: list[str]):
    assert parted(joined(labels)) == labels


@pytest.mark.parametrize("typed", ["a,b", " a , b ", "a\nb", "a\nb\n\n", ",a,,b,"])
def test_people_may_type_commas_or_lines(typed: str):
    assert parted(typed) == ["a", "b"]


@pytest.mark.parametrize("stored", ["a\r\nb", "a\rb", "a\nb", " a\r\nb\n"])
def test_line_ends_alone_are_no_change(stored: str):
    """A browser sends CR LF whatever it was given."""
    assert not TextField().has_changed(stored, "a\r\nb")
    assert TextField().has_changed(stored, "a\r\nc")
