"""What a query is made of, once it is read. Positions count characters of its text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Condition:
    """``field:value``; ``operator`` is one of = > >= < <= .. (a range, ``low..high``, one end may be empty)."""

    field: str
    operator: str
    value: str
    negated: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Saying:
    """A word, or the words of a phrase, as somebody said them."""

    text: str
    negated: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class QueryMistake:
    """What was left out or cannot be answered: characters ``start`` up to ``end`` of the text, and what would do."""

    message: str
    start: int
    end: int
    hint: str


type Part = Condition | Saying


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What a text asks for."""

    words: tuple[Saying, ...] = ()
    phrases: tuple[Saying, ...] = ()
    terms: tuple[Condition, ...] = ()
    errors: tuple[QueryMistake, ...] = ()

    @property
    def free_text(self) -> str:
        """The plain words, in their order."""
        return " ".join(word.text for word in self.words if not word.negated)
