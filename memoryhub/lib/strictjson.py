"""JSON as the hub reads it: UTF-8, no NaN, no infinity, no twin keys, nested at most 64 deep.

Python's parser accepts more than that, and 5,000 opening brackets cost it its stack; so depth is counted first.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Never

from memoryhub.lib.errors import FieldError, Invalid, Malformed

MAX_DEPTH = 64
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def parse(body: bytes) -> Any:
    """The value in ``body``. Raises Malformed (400) when it is not JSON, Invalid (422) when it is JSON we refuse."""
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH:
        _refuse_depth(body)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("The body is not UTF-8; encode it as UTF-8 and send it again.") from None
    try:
        return json.loads(
            text,
            object_pairs_hook=_without_twins,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_whole,
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Malformed(f"The body is not JSON ({error.msg}, {where}); correct it and send it again.") from None


def _refuse_depth(body: bytes) -> None:
    depth = 0
    for bracket in _STRING.sub(b"", body).translate(None, _NOT_BRACKETS):
        if bracket in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise _refusal("too_deep", f"is nested deeper than {MAX_DEPTH} levels; flatten it")
        else:
            depth -= 1


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    merged = dict(pairs)
    if len(merged) != len(pairs):
        raise _refusal("named_twice", "an object names the same key twice; name it once")
    return merged


def _refuse_constant(name: str) -> Never:
    raise _refusal("not_a_number", f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _refusal("not_a_number", "a number is too large to be finite")
    return value


def _whole(digits: str) -> int:
    if len(digits) > 400:  # far past any bound the hub knows; int() of thousands of digits is quadratic
        raise _refusal("out_of_range", "a whole number has too many digits")
    return int(digits)


def _refusal(code: str, detail: str) -> Invalid:
    return Invalid(errors=[FieldError(pointer="/", code=code, detail=detail)])
