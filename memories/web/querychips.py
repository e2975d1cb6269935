"""The text of the search box beside the list: its parts as chips, its mistakes in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.rules.querylanguage import parse
from memories.rules.querytext import around, without

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memories.rules.queryparts import Part, QueryMistake
    from memories.web.addresses import Address


@dataclass(frozen=True, slots=True)
class ShownMistake:
    """The text around a mistake, and the sentence about it."""

    before: str
    wrong: str
    after: str
    message: str
    hint: str


def shown_mistakes(text: str, mistakes: Iterable[QueryMistake]) -> list[ShownMistake]:
    """Each mistake with the text it stands in."""
    return [ShownMistake(*around(text, one), one.message, one.hint) for one in mistakes]


def query_chips(here: Address, text: str) -> list[tuple[str, str]]:
    """Label and address without it, for every condition and phrase; plain words are one chip."""
    query = parse(text)
    plain = [word for word in query.words if not word.negated]
    single: list[Part] = [*query.terms, *query.phrases, *(word for word in query.words if word.negated)]
    chips = [_chip(here, text, [part]) for part in sorted(single, key=lambda part: part.start)]
    if plain:
        label = f"“{query.free_text}”"
        chips.append((label, _chip(here, text, plain)[1]))
    return chips or [(f"“{text}”", str(here.without("q")))]


def _chip(here: Address, text: str, parts: Iterable[Part]) -> tuple[str, str]:
    gone = list(parts)
    return text[gone[0].start : gone[0].end], str(here.having(q=without(text, *gone)))
