"""JSON that a strict store can take, and nothing else."""

from __future__ import annotations

import json
import time

import pytest

from memoryhub.lib import strictjson
from memoryhub.lib.errors import Invalid, Malformed


def test_plain_json_comes_through_unchanged():
    value = {"a": [1, 2.5, None, True, "ü 漢字 \U0001f600"], "b": {"c": '\\"[{'}, "big": 2**62}
    assert strictjson.parse(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"a":}',
        b"{'a': 1}",
        b"\xff\xfe{\x00}\x00",
        '{"a": "ü"}'.encode("latin-1"),
        b"\xef\xbb\xbf{}",
        b"01",
    ],
)
def test_what_is_not_json_in_utf8_is_malformed(body: bytes):
    with pytest.raises(Malformed):
        strictjson.parse(body)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"a": NaN}', "not_a_number"),
        (b"[Infinity]", "not_a_number"),
        (b"[-Infinity]", "not_a_number"),
        (b"[1e400]", "not_a_number"),
        (b"[-1e999]", "not_a_number"),
        (b"[" + b"9" * 5000 + b"]", "out_of_range"),
        (b'{"a": 1, "a": 2}', "named_twice"),
        (b'{"a": {"b": 1, "b": 1}}', "named_twice"),
        (b"[" * 5000 + b"]" * 5000, "too_deep"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "too_deep"),
    ],
)
def test_json_the_hub_refuses_is_invalid(body: bytes, code: str):
    with pytest.raises(Invalid) as refused:
        strictjson.parse(body)
    assert refused.value.errors[0].code == code


def test_sixty_four_levels_are_allowed_and_brackets_in_texts_do_not_count():
    assert strictjson.parse(b"[" * 64 + b"]" * 64)
    brackets = json.dumps({"content": '[{"' * 1000 + "\\"})
    assert strictjson.parse(brackets.encode()) == json.loads(brackets)


def test_the_depth_of_five_megabytes_is_counted_quickly():
    """A body at the cap must not cost more to inspect than to parse."""
    body = json.dumps({"items": [{"content": '"\\ [' * 200} for _ in range(3500)]}).encode()
    started = time.process_time()
    strictjson.parse(body)
    assert time.process_time() - started < 2
