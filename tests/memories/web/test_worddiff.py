"""Words that came and went."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string

from memories.web.worddiff import MOST_PIECES, Piece, word_diff


@pytest.mark.parametrize(
    ("before", "after", "pieces"),
    [
        ("", "", []),
        ("same", "same", [Piece("same", "same")]),
        ("at 9", "at 10", [Piece("same", "at "), Piece("removed", "9"), Piece("added", "10")]),
        ("a b", "a", [Piece("same", "a"), Piece("removed", " b")]),
        ("日本", "日本!", [Piece("same", "日本"), Piece("added", "!")]),
    ],
)
def test_pieces(before: str, after: str, pieces: list[Piece]):
    assert word_diff(before, after) == pieces


def test_both_texts_can_be_read_back():
    before, after = "The old line.\nStays.\n" * 40, "The new line.\nStays.\nMore.\n" * 30
    pieces = word_diff(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == after


def test_very_long_texts_are_compared_by_lines():
    before = "word " * MOST_PIECES + "\nlast\n"
    pieces = word_diff(before, before + "one more\n")
    assert [piece.kind for piece in pieces] == ["same", "added"]


def test_a_mark_goes_around_words_and_not_around_empty_lines():
    added = Piece("added", "# Work\n\nShips on Mondays.\n")
    assert added.lines == ["# Work", "\n\n", "Ships on Mondays.", "\n"]
    html = render_to_string("parts/diff.html", {"pieces": [added]})
    assert html.count("<ins>") == 2
    assert "</ins>\n\n<ins>" in html
