"""JSON as language models write it: fenced, wrapped in prose, with thoughts before it and commas too many (EXT-18)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Never

MAX_CHARACTERS = 262_144
_MAX_STARTS = 64
_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[\]}])', re.DOTALL)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class NoJson(ValueError):
    """The text holds no JSON object or array."""


def find_json(text: str) -> Any:
    """The object or array a model's answer is about: the longest one, those inside code fences first.

    Trailing commas, line breaks in strings, prose and thoughts around it are forgiven; NUL and lone surrogates are
    taken out. What is cut off is not guessed at. Raises NoJson.
    """
    plain = _THOUGHTS.sub("", text[:MAX_CHARACTERS])
    for source in (*_FENCE.findall(plain), plain):
        found = max(_values(source), key=lambda each: each[0], default=None)
        if found is not None:
            return _storable(found[1])
    raise NoJson("no JSON object or array in the answer")


def _values(source: str) -> Iterator[tuple[int, Any]]:
    """Length and value of everything in a text that reads as an object or array and is not part of another."""
    text = _STRING_OR_COMMA.sub(lambda found: found.group() if found.group() != "," else "", source)
    decoder = json.JSONDecoder(strict=False, parse_constant=_refuse)
    place, tries = 0, 0
    while tries < _MAX_STARTS and (start := _next_bracket(text, place)) >= 0:
        tries += 1
        try:
            value, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            place = start + 1
        else:
            yield place - start, value


def _next_bracket(text: str, place: int) -> int:
    starts = [start for bracket in "{[" if (start := text.find(bracket, place)) >= 0]
    return min(starts, default=-1)


def _refuse(name: str) -> Never:
    raise ValueError(f"{name} is not a JSON number")


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return _UNSTORABLE.sub("", value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_UNSTORABLE.sub("", key): _storable(item) for key, item in value.items()}
    return value
