"""What changed between two texts, word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_PIECES = re.compile(r"\s+|\w+|[^\w\s]")
_BREAKS = re.compile(r"(\s*\n\s*)")
# Comparing takes quadratic time in the worst case; longer texts are compared by lines.
MOST_PIECES = 4_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text that stayed, came or went."""

    kind: Literal["same", "added", "removed"]
    text: str

    @property
    def lines(self) -> list[str]:
        """The text and the breaks in it, apart: a mark goes around words, not around empty lines."""
        return [part for part in _BREAKS.split(self.text) if part]


def word_diff(before: str, after: str) -> list[Piece]:
    """The pieces of both texts in reading order; removed ones stand before what replaced them."""
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    if len(old) + len(new) > MOST_PIECES:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    pieces: list[Piece] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(old[i1:i2])))
            continue
        if i2 > i1:
            pieces.append(Piece("removed", "".join(old[i1:i2])))
        if j2 > j1:
            pieces.append(Piece("added", "".join(new[j1:j2])))
    return pieces
