"""Labelled pairs of memories: what deduplication should do with the second of each (issue: `bench dedup`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

PAIRS = Path(__file__).with_name("pairs.txt")


class Expected(StrEnum):
    """What should become of the newer of a pair."""

    SKIP = "skip"
    SUPERSEDE = "supersede"
    KEEP = "keep"


class Label(StrEnum):
    """How the two of a pair stand to each other."""

    IDENTICAL = "identical"
    PARAPHRASE = "paraphrase"
    UPDATED = "updated"
    NEGATED = "negated"
    NUMBER = "number"
    ENTITY = "entity"
    UNRELATED = "unrelated"
    #: A sign, a person, a degree, a form of a word: nearly the same letters, something else.
    TWISTED = "twisted"

    @property
    def expected(self) -> Expected:
        """What should become of such a pair's newer one."""
        if self in {Label.IDENTICAL, Label.PARAPHRASE}:
            return Expected.SKIP
        return Expected.SUPERSEDE if self is Label.UPDATED else Expected.KEEP


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts of the same owner and type, and the fact key both carry."""

    label: Label
    older: str
    newer: str
    fact_key: str | None = None


def read_pairs(path: Path = PAIRS) -> list[Pair]:
    """Every pair of the file, in its order."""
    pairs: list[Pair] = []
    label = Label.IDENTICAL
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            label = Label(line.strip("[]"))
        elif line and not line.startswith("#"):
            pairs.append(Pair(label, *(part.strip() for part in line.split(" | "))))
    return pairs


def halves[T](pairs: Sequence[T]) -> tuple[list[T], list[T]]:
    """Every other pair, so that each label is in both: one half to fit thresholds on, one to report."""
    return list(pairs[::2]), list(pairs[1::2])
