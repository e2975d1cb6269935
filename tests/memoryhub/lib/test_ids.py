"""Ids: UUIDv7, in order, and nonsense is nothing more than unknown."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from memoryhub.lib import ids
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import new_id, parse_id, short_id


def test_an_id_is_a_uuid_of_version_7(monkeypatch):
    """MOD-01: version and variant as RFC 9562 says, the time in front (ids stay ahead of a clock once set back)."""
    monkeypatch.setattr(ids, "_last_ticks", 0)
    made = new_id()
    assert (made.version, made.variant) == (7, "specified in RFC 4122")
    assert abs((made.int >> 80) / 1000 - time.time()) < 5


def test_ids_grow_and_never_repeat_in_any_thread():
    """MOD-01: made in Python, in order within the process, unique across threads."""
    with ThreadPoolExecutor(8) as pool:
        series = list(pool.map(lambda _: [new_id() for _ in range(2_000)], range(8)))
    for one in series:
        assert one == sorted(one)
    assert len({made for one in series for made in one}) == 16_000


@pytest.mark.parametrize("text", ["", "x", "%00", "\x00", "1" * 400, None, 7, "0192-", "urn:uuid:", [], "é" * 36])
def test_nonsense_is_an_unknown_id(text):
    """API-17: 404, never 500."""
    with pytest.raises(NotFound):
        parse_id(text)


def test_an_id_reads_back():
    """API-17: as text or as what it is."""
    made = new_id()
    assert parse_id(str(made)) == parse_id(made) == made
    assert made.hex.endswith(short_id(made))
