"""JSON the way models write it."""

from __future__ import annotations

import pytest

from memoryhub.lib.loosejson import MAX_CHARACTERS, NoJson, find_json

READABLE = {
    "plain": ('{"a": 1}', {"a": 1}),
    "an array": ('[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
    "fenced": ('```json\n{"a": 1}\n```', {"a": 1}),
    "fenced without a language": ("```\n[1, 2]\n```", [1, 2]),
    "a fence that never closes": ('```json\n{"a": 1}', {"a": 1}),
    "leading prose": ('Sure! Here is the JSON you asked for:\n\n{"a": 1}', {"a": 1}),
    "prose around it": ('I found [2] facts: {"facts": ["x", "y"]}. Anything else?', {"facts": ["x", "y"]}),
    "prose with braces": ('Using the {schema}: {"a": 1}', {"a": 1}),
    "a fence after an example": ('The shape is {"a": 0}.\n```json\n{"a": 1}\n```', {"a": 1}),
    "trailing commas": ('{"a": [1, 2,], "b": {"c": 3,},}', {"a": [1, 2], "b": {"c": 3}}),
    "a comma that belongs": ('{"a": "x,]", "b": ",}"}', {"a": "x,]", "b": ",}"}),
    "a line break in a string": ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
    "thoughts": ('<think>Maybe {"a": 0}? No.</think>\n{"a": 1}', {"a": 1}),
    "fences inside a string": ('{"a": "see ``` here"}', {"a": "see ``` here"}),
    "an empty array": ("[]", []),
    "a mark at the front": ('\ufeff{"a": 1}', {"a": 1}),
    "what cannot be stored": ('{"a\\u0000": "x\\u0000y\\ud800"}', {"a": "xy"}),
}


@pytest.mark.parametrize(("text", "value"), READABLE.values(), ids=READABLE.keys())
def test_found(text, value):
    """EXT-18."""
    assert find_json(text) == value


UNREADABLE = {
    "nothing": "",
    "prose": "I could not find anything worth remembering.",
    "HTML": "<!doctype html><p>Please log in",
    "cut off": '{"a": "one", "b": ["two", "thr',
    "NaN": '{"a": NaN}',
    "a bare string": '"yes"',
    "a number": "42",
    "only thoughts": '<think>{"a": 1}',
    "depth": "[" * 100_000,
    "braces": "{" * 100_000,
    "beyond the limit": " " * MAX_CHARACTERS + '{"a": 1}',
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_not_guessed_at(text):
    """EXT-18: half an answer is none."""
    with pytest.raises(NoJson):
        find_json(text)
