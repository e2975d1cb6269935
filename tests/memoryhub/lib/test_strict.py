"""The strict base of everything that comes in: refused is what could not be stored, meant or found again."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import pytest
from pydantic import Field

from memoryhub.lib.errors import Invalid
from memoryhub.lib.strict import StrictModel, snake_case


class Box(StrictModel):
    aliases: ClassVar[dict[str, str]] = {"other": "memory_text"}

    memory_text: str = ""
    count: Annotated[int, Field(strict=True, ge=1)] = 1
    size: float = 0.0
    extra: dict[str, Any] = {}


def deep(levels: int) -> dict[str, Any]:
    return {"a": deep(levels - 1)} if levels else {"a": 1}


REFUSED = {
    "unknown field": {"nobody": 1},
    "NUL": {"memory_text": "a\x00b"},
    "lone surrogate": {"memory_text": "\ud800"},
    "NUL in a nested value": {"extra": {"a": [{"b": "\x00"}]}},
    "surrogate in a key": {"extra": {"\udfff": 1}},
    "NaN": {"size": float("nan")},
    "infinity": {"size": float("inf")},
    "a boolean as a number": {"count": True},
    "a fraction as a number": {"count": 2.5},
    "text as a number": {"count": "2"},
    "below the bound": {"count": 0},
    "too deep": {"extra": deep(9)},
    "not an object": ["memory_text"],
    "nothing": None,
    "one field under two names": {"memory_text": "a", "memoryText": "b"},
    "one field under its name and its alias": {"memory_text": "a", "other": "b"},
    "a number as a name": {1: "x"},
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused(data):
    """API-17: always Invalid with a pointer and a sentence, and never the input itself."""
    with pytest.raises(Invalid) as caught:
        Box.parse(data, "/items/3")
    assert caught.value.errors
    for error in caught.value.errors:
        assert error.pointer.startswith("/items/3")
        assert error.code
        assert error.detail


def test_camel_case_means_the_same():
    """API-05: agents write either."""
    assert Box.parse({"memoryText": "x"}) == Box.parse({"memory_text": "x"}) == Box.parse({"other": "x"})
    assert snake_case("externalWriteId") == "external_write_id"
    assert snake_case("topK") == "top_k"


def test_what_fits_is_taken_as_it_is():
    """API-05: eight levels, any real text."""
    box = Box.parse({"memory_text": "🎉\u202e\ttab", "extra": deep(7)})
    assert (box.memory_text, box.extra) == ("🎉\u202e\ttab", deep(7))


def test_mistakes_never_quote_what_was_sent():
    """ENC-21: error texts end in logs."""
    with pytest.raises(Invalid) as caught:
        Box.parse({"count": "pistachio", "memory_text": 7, "size": "pistachio"})
    assert "pistachio" not in f"{caught.value} {caught.value.errors}"
    assert len(caught.value.errors) == 3


def test_it_cannot_be_changed_afterwards():
    """API-05: what was validated is what is used."""
    with pytest.raises(ValueError, match="frozen"):
        Box.parse({}).count = 2  # type: ignore[misc]
