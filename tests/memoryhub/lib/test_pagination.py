"""Cursors cannot be forged and do not fit another query."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.lib.pagination import CursorInvalid, CursorMismatch, decode_cursor, encode_cursor, query_text

POSITIONS = st.lists(st.none() | st.integers(-(2**53), 2**53) | st.text(max_size=40), max_size=4)


@given(POSITIONS, st.booleans())
def test_a_cursor_comes_back_as_it_was(position: list[str | int | None], backward: bool):
    cursor = decode_cursor(encode_cursor(position, "q", backward=backward), "q")
    assert cursor.position == tuple(position)
    assert cursor.backward is backward


def test_a_cursor_of_another_query_is_a_mismatch():
    cursor = encode_cursor(["2026-01-01", "id"], query_text("vault", {"bank": ["Work"]}, "-created_at"))
    with pytest.raises(CursorMismatch):
        decode_cursor(cursor, query_text("vault", {"bank": ["Home"]}, "-created_at"))
    with pytest.raises(CursorMismatch):
        decode_cursor(cursor, query_text("other vault", {"bank": ["Work"]}, "-created_at"))


@pytest.mark.parametrize("text", ["", "x", "not base64!", "ü" * 10, "A" * 5000, base64.b64encode(b"0" * 60).decode()])
def test_garbage_is_refused(text: str):
    with pytest.raises(CursorInvalid):
        decode_cursor(text, "q")


@given(st.integers(0, 60), st.integers(1, 255))
def test_no_bit_of_a_cursor_can_be_changed(where: int, flip: int):
    raw = bytearray(base64.urlsafe_b64decode(encode_cursor(["2026-01-01T00:00:00", "0193"], "q") + "=="))
    raw[where % len(raw)] ^= flip
    with pytest.raises(CursorInvalid):
        decode_cursor(base64.urlsafe_b64encode(bytes(raw)).decode(), "q")
