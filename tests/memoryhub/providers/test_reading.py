"""From a model's words to the shape that was asked for."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, Field

from memoryhub.providers.chat import UnreadableAnswer
from memoryhub.providers.reading import read_answer


class Fact(BaseModel):
    text: str
    importance: float = Field(0.5, ge=0, le=1)


class Facts(BaseModel):
    memories: list[Fact]


class Decision(BaseModel):
    action: str
    reason: str = ""


TEA = Fact(text="likes tea", importance=0.6)
READABLE = {
    "as asked": '{"memories": [{"text": "likes tea", "importance": 0.6}]}',
    "a bare array": '[{"text": "likes tea", "importance": 0.6}]',
    "a single object": '{"text": "likes tea", "importance": 0.6}',
    "fenced, with prose": 'Of course:\n```json\n{"memories": [{"text": "likes tea", "importance": 0.6},]}\n```',
    "one invalid element": '{"memories": [{"text": 7}, {"text": "likes tea", "importance": 0.6}, {"importance": 9}]}',
    "more than asked": '{"memories": [{"text": "likes tea", "importance": 0.6, "note": 1}], "thoughts": "…"}',
}


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE.keys())
def test_a_list_is_read_however_it_is_wrapped(text):
    """EXT-18: a single object, a bare array, the wrapper; only invalid elements are dropped."""
    assert read_answer(text, Facts) == Facts(memories=[TEA])


@pytest.mark.parametrize("text", ["[]", '{"memories": []}', "```json\n[]\n```"])
def test_nothing_to_say_is_an_answer(text):
    """EXT-09."""
    assert read_answer(text, Facts) == Facts(memories=[])


@pytest.mark.parametrize("text", ["", "nothing here", "{}", '{"memories": [{"txt": "tea"}]}', '{"memories": 3}', '"x"'])
def test_no_valid_element_is_an_error(text):
    """EXT-18: zero valid elements from a non-empty answer."""
    with pytest.raises(UnreadableAnswer):
        read_answer(text, Facts)


def test_an_object_is_not_taken_for_a_list():
    assert read_answer('{"action": "skip"}', Decision) == Decision(action="skip")
    with pytest.raises(UnreadableAnswer):
        read_answer('[{"action": "skip"}]', Decision)


def test_the_error_quotes_nothing():
    """Law of the house: a message that may be logged holds no content."""
    with pytest.raises(UnreadableAnswer) as caught:
        read_answer('{"action": {"secret": "xylophone"}}', Decision)
    assert "xylophone" not in caught.value.message
    assert "action" in caught.value.message
