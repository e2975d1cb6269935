"""Which words of a text a question found, so that they can be marked."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memoryhub.lib.text import tokenize

#: A hit shows the beginning of its text; the whole of it is one click away.
SHOWN = 480
LEAD = 60
_WORDS = re.compile(r"[\w'’-]+")


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text."""

    text: str
    marked: bool


def highlighted(text: str, question: str) -> list[Span]:
    """The part of ``text`` around the first word it shares with ``question``, such words marked."""
    terms = set(tokenize(question, query=True))
    found = [match.span() for match in _WORDS.finditer(text) if not terms.isdisjoint(tokenize(match[0]))]
    begin = 0 if not found or found[0][0] < SHOWN // 2 else text.rfind(" ", 0, found[0][0] - LEAD) + 1
    end = min(len(text), begin + SHOWN)
    spans: list[Span] = [Span("…", False)] if begin else []
    at = begin
    for first, last in found:
        if begin <= first and last <= end:
            spans += [Span(text[at:first], False), Span(text[first:last], True)]
            at = last
    spans += [Span(text[at:end], False)] + ([Span("…", False)] if end < len(text) else [])
    return [span for span in spans if span.text]


def shared_words(spans: list[Span]) -> list[str]:
    """The marked words, each once."""
    return list(dict.fromkeys(span.text.casefold() for span in spans if span.marked))
