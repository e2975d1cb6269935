"""``bench extract``: what the patterns find in sentences about oneself, and what they leave alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from memories.management.bench.firstperson import SILENT, TELLING
from memories.rules.facts import verdict_of
from memories.rules.firstperson import facts_in


@dataclass(frozen=True, slots=True)
class Measured:
    """``right`` of ``sentences`` gave the labelled fact; ``found`` facts in all, ``wrong`` of them not labelled."""

    sentences: int
    silent: int
    right: int
    found: int
    wrong: tuple[str, ...]

    @property
    def precision(self) -> float:
        """The share of facts found that are labelled, 0 to 1."""
        return 1 - len(self.wrong) / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """The share of telling sentences that gave their fact, 0 to 1."""
        return self.right / self.sentences


def measure() -> dict[str, Measured]:
    """Both halves of the labelled set and the whole."""
    return {
        "tuned": _measured(islice(TELLING.items(), 0, None, 2), SILENT[0::2]),
        "held_out": _measured(islice(TELLING.items(), 1, None, 2), SILENT[1::2]),
        "all": _measured(TELLING.items(), SILENT),
    }


def _measured(telling: Iterable[tuple[str, tuple[str, str]]], silent: Iterable[str]) -> Measured:
    sentences = right = found = quiet = 0
    wrong: list[str] = []
    for said, (_, needle) in telling:
        facts = _kept(said)
        labelled = [text for text in facts if needle.lower() in text.lower()]
        sentences, right, found = sentences + 1, right + bool(labelled), found + len(facts)
        wrong += [f"{said} → {text}" for text in facts if text not in labelled]
    for said in silent:
        facts = _kept(said)
        quiet, found = quiet + 1, found + len(facts)
        wrong += [f"{said} → {text}" for text in facts]
    return Measured(sentences, quiet, right, found, tuple(wrong))


def _kept(said: str) -> list[str]:
    """What would be written; what is refused is found, but does no harm."""
    return [fact.text for fact in facts_in(said) if verdict_of(fact).status is not None]


def as_text(measured: dict[str, Measured]) -> str:
    """A table for a terminal, with every wrong fact below it."""
    lines = ["half       telling  silent  precision  recall"]
    lines += [
        f"{name:<10} {one.sentences:>7}  {one.silent:>6}  {one.precision:>9.3f}  {one.recall:>6.3f}"
        for name, one in measured.items()
    ]
    return "\n".join([*lines, *(f"wrong: {text}" for text in measured["all"].wrong)])
